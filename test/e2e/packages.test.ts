import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { tone } from '../support/audio.ts'
import { runCommand, type Served, servedPackages, type Site, startSite } from './packages_setup.ts'
import { addDocumented, typeCheck, WRONG_SVELTE } from './packages_types.ts'
import { type Album, openPage, PATIENCE, setUp, type Workspace } from './player_setup.ts'
import { ANSWERS, answersOf, SECRET, useReceiver } from './receivers.ts'

/**
 * Tests the packages as users get them. An empty project installs the tarballs from the stack and gets the examples from there; each of them is compiled,
 * built and used. Other dependencies of the examples come from our devDependencies.
 */

const root = join(import.meta.dirname, '../..')
const DEPENDENCIES =
  'react react-dom svelte vue vite wrangler @types/react @types/react-dom @types/node @vitejs/plugin-vue @cloudflare/workers-types'

let workspace: Workspace
let album: Album
let session: string
let packages: Served[]
let project: string
let site: Site

beforeAll(async () => {
  workspace = await setUp()
  packages = await servedPackages(workspace.stack.base_url)
  project = await makeProject()
  album = await workspace.anAlbum({ First: { seconds: 8, expression: tone(330, -12) } })
  session = await workspace.aSession(album)
  site = await startSite(join(project, 'site'), workspace.stack.base_url)
})
afterAll(async () => {
  site?.server.close()
  await workspace?.dispose()
  if (project) await rm(project, { recursive: true, maxRetries: 5 })
})

const run = (command: string, args: string[], vars?: Record<string, string>, cwd = project) =>
  runCommand(command, args, cwd, vars)
const node = (...args: string[]) => run(process.execPath, args)

const service = (path: string) => workspace.stack.base_url + path
const urlOf = (name: string) => service(packages.find((each) => each.name === name)!.url)

/** Makes a project with the packages and the examples of the service. */
async function makeProject(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'tonearm-project-'))
  // Some machines do not let npm write below HOME.
  const npm = { npm_config_cache: join(made, '.npm') }
  await writeFile(join(made, 'package.json'), '{ "private": true, "type": "module" }')
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=0']
  await run('npm', ['install', ...quiet, urlOf('@tonearm/client'), urlOf('@tonearm/elements')], npm, made)
  for (const name of DEPENDENCIES.split(' ')) {
    const place = join(made, 'node_modules', name)
    await mkdir(dirname(place), { recursive: true })
    await symlink(join(root, 'node_modules', name), place)
  }
  await writeFile(join(made, 'examples.tgz'), await (await fetch(urlOf('tonearm-examples'))).bytes())
  await run('tar', ['-xzf', 'examples.tgz', '--strip-components=1'], {}, made)
  return made
}

test('the service serves what npm run pack builds and checks', async () => {
  // With the variable of GitHub, the packages name the repository.
  await run(process.execPath, ['scripts/pack.ts'], { GITHUB_REPOSITORY: '' }, root)
  const lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { resolved: string; integrity: string }>
  }
  for (const { name, url, size, sha256, integrity } of packages) {
    const response = await fetch(service(url))
    const served = await response.bytes()
    const sums = ['sha256', 'sha512'].map((hash) => createHash(hash).update(served))
    expect([served.length, sums[0]!.digest('hex'), `sha512-${sums[1]!.digest('base64')}`]).toEqual([
      size,
      sha256,
      integrity,
    ])
    expect(response.headers.get('cache-control')).toBe('no-cache')
    const again = await fetch(service(url), { headers: { 'if-none-match': response.headers.get('etag')! } })
    expect(again.status).toBe(304)
    if (name === 'tonearm-examples') continue
    expect(Buffer.from(served).equals(await readFile(join(root, 'dist', url)))).toBe(true)
    if (name !== 'tonearm')
      expect(lock.packages[`node_modules/${name}`]).toMatchObject({ resolved: service(url), integrity })
  }
  const page = await (await fetch(service('/packages/'))).text()
  for (const { url, sha256 } of packages) {
    expect(page).toContain(`<a href="${url}">`)
    expect(page).toContain(sha256)
  }
  const missing = await fetch(service('/packages/tonearm-client-0.0.1.tgz'))
  expect([missing.status, ((await missing.json()) as { code: string }).code]).toEqual([404, 'not_found'])
})

test('the examples and the code of docs/packages.md pass the type check', async () => {
  await addDocumented(project)
  await Promise.all([
    ...['react', 'next', 'worker', 'node', 'vue'].map((example) => node(...typeCheck(example))),
    expect(node(...typeCheck('svelte'))).rejects.toThrow(WRONG_SVELTE),
  ])
})

/** Builds an example as its package.json does and publishes it on the site. */
async function publish(example: string): Promise<void> {
  const folder = join(project, example)
  await writeFile(
    join(folder, '.env'),
    `VITE_TONEARM_URL=${workspace.stack.base_url}\nVITE_PLAY_SESSION_ID=${session}\n`,
  )
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  await node(vite, 'build', folder, '--base', './', '--outDir', join(project, 'site', example), '--logLevel', 'warn')
}

/** Publishes a page that loads the package's files without a bundler. */
async function publishPlain(): Promise<void> {
  const folder = join(project, 'site/plain')
  await cp(join(project, 'node_modules/@tonearm/elements'), folder, { recursive: true })
  await writeFile(
    join(folder, 'index.html'),
    `<!doctype html><title>Plain</title><script type="module" src="player.js"></script><script type="module" src="uploader.js"></script>
<tonearm-player base-url="${workspace.stack.base_url}" play-session-id="${session}" locale="de"></tonearm-player>
<tonearm-uploader></tonearm-uploader>`,
  )
}

test.each(['react', 'vue'])('%s plays from the package, receives events and sets properties', async (example) => {
  await publish(example)
  const opened = await openPage(workspace.browser, `${site.origin}/${example}/`)
  await opened.until('ready')
  await opened.page.getByText('Now: First').waitFor(PATIENCE)
  await opened.page.getByRole('button', { name: 'Listen' }).click()
  await opened.untilTime(0.3)
  // Frameworks assign undefined or null when a component no longer sets a property.
  const after = await opened.page.evaluate(() => {
    const player = document.querySelector('tonearm-player')!
    Object.assign(player, { volume: undefined, rate: null })
    return [player.volume, player.rate, player.getAttribute('track'), player.track?.player_title]
  })
  expect(after).toEqual([1, 1, '1', 'First'])
  expect(opened.problems).toEqual([])
  await opened.close()
})

test('the player works without a framework under a strict policy, and custom-elements.json matches the elements', async () => {
  await publishPlain()
  const opened = await openPage(workspace.browser, `${site.origin}/plain/`)
  await opened.until('ready')
  await opened.page.getByRole('button', { name: 'Wiedergabe', exact: true }).click()
  await opened.untilTime(0.3)
  expect(opened.problems).toEqual([])

  const manifest = JSON.parse(
    await readFile(join(project, 'node_modules/@tonearm/elements/custom-elements.json'), 'utf8'),
  ) as { modules: { declarations: [Declaration] }[] }
  const declarations = manifest.modules.map(({ declarations }) => declarations[0])
  const unlike = await opened.page.evaluate(
    (all) =>
      all.flatMap(({ tagName, attributes, members }) => {
        const element = customElements.get(tagName) as CustomElementConstructor & { observedAttributes: string[] }
        const named = attributes.map(({ name }) => name)
        return [
          ...element.observedAttributes.filter((name) => !named.includes(name)),
          ...members.map(({ name }) => name).filter((name) => !(name in element.prototype)),
        ].map((name) => `${tagName} ${name}`)
      }),
    declarations,
  )
  expect(declarations.filter(({ members }) => members.length === 0).map(({ tagName }) => tagName)).toEqual([])
  expect(unlike).toEqual([])
  await opened.close()
})

interface Declaration {
  tagName: string
  attributes: { name: string }[]
  members: { name: string }[]
}

test('a Next page that uses the client renders on a server without a DOM', async () => {
  await build({
    entryPoints: [join(project, 'next/app/page.tsx')],
    outfile: join(project, 'next/page.mjs'),
    bundle: true,
    packages: 'external',
    format: 'esm',
    jsx: 'automatic',
    logLevel: 'error',
  })
  await writeFile(
    join(project, 'next/render.mjs'),
    `import Page from './page.mjs'
import { renderToString } from 'react-dom/server'
import { UploadQueue } from '@tonearm/client/upload'
import { Playback } from '@tonearm/client/playback'
console.log(renderToString(await Page()), UploadQueue.name, Playback.name)`,
  )
  const { base_url: TONEARM_URL, api_key: TONEARM_KEY } = workspace.stack
  const environment = { TONEARM_URL, TONEARM_KEY, COLLECTION_ID: album.collection_id }
  const html = await run(process.execPath, [join(project, 'next/render.mjs')], environment)
  expect(html).toMatch(
    new RegExp(`<tonearm-player base-url="${TONEARM_URL}" play-session-id="[0-9a-f-]{36}"></tonearm-player>`),
  )
  expect(html).toContain('UploadQueue Playback')
})

test('a Node server and a Next route receive webhooks, each event once', async () => {
  const { stdout, stderr } = await useReceiver(join(project, 'node'), async (url) => {
    expect(await answersOf((init) => fetch(url, init))).toEqual(ANSWERS)
    const { status } = await fetch(url, { method: 'POST', body: 'x'.repeat(65_537) })
    expect(status).toBe(413)
  })
  expect(stdout).toMatch(/^Listening on http:\/\/127\.0\.0\.1:\d+\ntrack-1 can be played: 2\.5 s\n$/)
  expect(stderr).toBe('')

  vi.stubEnv('TONEARM_WEBHOOK_SECRET', SECRET)
  try {
    const { POST } = (await import(join(project, 'next/app/webhook/route.ts'))) as {
      POST: (request: Request) => Promise<Response>
    }
    expect(await answersOf((init) => POST(new Request('http://localhost/webhook', init)))).toEqual(ANSWERS)
  } finally {
    vi.unstubAllEnvs()
  }
})

test('a webhook receiver without its secret exits with a message', async () => {
  // The port is invalid, so the process ends even if it starts by mistake.
  const env = { TONEARM_WEBHOOK_SECRET: '', PORT: '70000' }
  const starting = run(process.execPath, ['server.ts'], env, join(project, 'node'))
  await expect(starting).rejects.toThrow('TONEARM_WEBHOOK_SECRET is missing')
})

test('the example Worker provides a session and a key, and its page uses them to play and upload', async () => {
  // Wrangler fails to start if it cannot create a directory below HOME, and its registry would announce this instance to others.
  for (const name of ['XDG_CONFIG_HOME', 'WRANGLER_REGISTRY_PATH']) vi.stubEnv(name, join(project, '.wrangler', name))
  vi.stubEnv('WRANGLER_WRITE_LOGS', 'false')
  const { unstable_startWorker } = await import('wrangler')
  const text = (value: string) => ({ type: 'plain_text' as const, value })
  const worker = await unstable_startWorker({
    config: join(project, 'worker/wrangler.toml'),
    bindings: {
      TONEARM_URL: text(workspace.stack.base_url),
      TONEARM_KEY: text(workspace.stack.api_key),
      COLLECTION_ID: text(album.collection_id),
      TONEARM_WEBHOOK_SECRET: text(SECRET),
    },
    dev: { server: { hostname: '127.0.0.1', port: 0 }, inspector: false, watch: false, logLevel: 'error' },
  })
  try {
    const url = (await worker.url).href
    const opened = await openPage(workspace.browser, url)
    await opened.until('ready')
    await opened.call('play')
    await opened.untilTime(0.3)
    const state = await opened.page.evaluate(async () => {
      const uploader = document.querySelector('tonearm-uploader')!
      const ended = new Promise<string>((resolve) => {
        uploader.addEventListener('tonearm-upload-complete', () => resolve('complete'))
        uploader.addEventListener('tonearm-upload-error', ({ detail }) => resolve(detail.code))
      })
      uploader.addFiles([new File([new Uint8Array(2000)], 'song.mp3', { type: 'audio/mpeg' })])
      return await ended
    })
    expect(state).toBe('complete')
    expect(opened.problems).toEqual([])
    expect(await answersOf((init) => fetch(`${url}webhook`, init))).toEqual(ANSWERS)
    // Other origins get no upload key, and the page never contains the server key.
    const refused = await fetch(`${url}upload-key`, {
      method: 'POST',
      headers: { origin: 'https://elsewhere.example' },
    })
    expect(refused.status).toBe(403)
    const shown = await Promise.all(['', 'page.js'].map(async (path) => await (await fetch(url + path)).text()))
    expect(shown.join('')).not.toContain(workspace.stack.api_key)
    await opened.close()
  } finally {
    await worker.dispose()
    vi.unstubAllEnvs()
  }
})

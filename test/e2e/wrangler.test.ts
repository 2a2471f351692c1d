import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseEnv } from 'node:util'

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

import type { Cloudflare } from '../support/cloudflare/server.ts'
import { freePorts } from '../support/stack.ts'
import { deploy, IMAGE, playAccount, root, wrangler } from './deploy_setup.ts'
import { joinStack } from './shared_stack.ts'

/** Wrangler without the scripts of package.json (docs/decisions/0074). */

describe('in a clean clone after npm ci', () => {
  const clone = mkdtempSync(join(tmpdir(), 'tonearm-clone-'))
  /** The files that git ignores. */
  const IGNORED = ['node_modules', 'dist', '.wrangler', '.dev.vars', '.cache', '.git', 'coverage']
  const path = (name: string) => join(clone, name)

  beforeAll(() => {
    const isCloned = (path: string) => !IGNORED.includes(relative(root, path).split('/')[0]!)
    cpSync(root, clone, { recursive: true, filter: isCloned })
    symlinkSync(join(root, 'node_modules'), path('node_modules'))
  })
  afterAll(() => rmSync(clone, { recursive: true }))

  /** Runs a command in a folder of the clone as in a new terminal, in which `node` is that of the machine. */
  function run(command: string, ports: Record<string, string> = {}) {
    const PATH = process.env.PATH!.split(':').filter((directory) => !directory.endsWith('node_modules/.bin'))
    const { NODE_COMPILE_CACHE } = process.env
    const env = {
      HOME: clone,
      WRANGLER_LOG: 'log',
      DEMO_TRACK: '0',
      NODE_COMPILE_CACHE,
      PATH: PATH.join(':'),
      ...ports,
    }
    const child = spawn(command, {
      shell: true,
      cwd: path('docs'),
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => (output += part))
    const ended = once(child, 'close').then(([code]) => code as number)
    onTestFinished(async () => {
      if (child.exitCode === null) process.kill(-child.pid!, 'SIGINT')
      await ended
    })
    /** Waits for a text in the output, until the command ends. */
    async function printed(text: string): Promise<void> {
      await expect.poll(() => output.includes(text) || child.exitCode !== null, { timeout: 120_000 }).toBe(true)
      expect(output).toContain(text)
    }
    return { ended, printed, output: () => output }
  }

  test('wrangler deploy --dry-run builds the web pages, and prepares nothing for development', async () => {
    const { ended, output } = run('npx wrangler deploy --dry-run --containers-rollout=none')
    expect(await ended, output()).toBe(0)
    expect(output()).toMatch(/Read \d+ files from the assets directory/)
    expect(existsSync(path('dist/public/index.html'))).toBe(true)
    expect(['.dev.vars', '.wrangler/state'].filter((name) => existsSync(path(name)))).toEqual([])
  })

  test('wrangler dev serves all but the transcoder, which npm run transcoder starts', async () => {
    const [PORT, TRANSCODER_PORT] = (await freePorts()).map(String) as [string, string]
    const ports = { PORT, TRANSCODER_PORT }
    const worker = run(`npx wrangler dev --port ${PORT} --inspector-port 0`, ports)
    await worker.printed('Ready on')
    expect(worker.output()).toMatch(/Studio +http:\/\/localhost:\d+\/\n.*Transcoder +run `npm run transcoder`/)
    expect(statSync(path('.dev.vars')).mode & 0o777).toBe(0o600)
    const vars = parseEnv(readFileSync(path('.dev.vars'), 'utf8'))
    const names =
      'JURISDICTION LOCATION_HINT METRICS_KEY PUBLIC_BASE_URL R2_ACCESS_KEY_ID R2_SECRET_ACCESS_KEY ROOT_KEY S3_ENDPOINT SIGNING_SECRET TRANSCODER_SECRET TRANSCODER_URL WEBHOOK_LOCAL'
    expect(Object.keys(vars).toSorted()).toEqual(names.split(' '))
    expect(await (await fetch(`http://localhost:${PORT}/`)).text()).toContain('<title>Tonearm')
    const health = await fetch(`http://localhost:${PORT}/health`)
    expect(await health.json()).toEqual({ ok: false, failing: ['transcoder'] })
    const headers = { authorization: `Bearer ${vars.METRICS_KEY}` }
    const metrics = await fetch(`http://localhost:${PORT}/v1/system/metrics`, { headers })
    expect(await metrics.text()).toContain('tonearm_failing{part="transcoder"} 1')

    const transcoder = run('npm run transcoder', ports)
    await transcoder.printed('Ctrl-C stops the transcoder.')
    const doctor = run('npm run doctor', ports)
    expect(await doctor.ended, doctor.output()).toBe(0)
    expect(doctor.output()).toMatch(/^(ok {6}|- {7})ffmpeg \S+(:| of )/m)
    expect(doctor.output()).toMatch(/ok {6}transcode: [^]*ok {6}a part of the audio[^]*All is well\./)
  })
})

describe('after npm run deploy', () => {
  let cloudflare: Cloudflare
  beforeAll(async () => (cloudflare = await playAccount(await joinStack())))
  afterAll(() => cloudflare?.close())

  test('a bare wrangler deploy keeps every variable, secret and binding of the account', async () => {
    const variables = ['--var', 'TRANSCODER_URL:https://transcoder.example.com']
    expect(await deploy(cloudflare, [...IMAGE, ...variables])).toMatchObject({ code: 0 })
    const { account } = cloudflare
    account.workers.get('tonearm')!.secrets.METRICS_KEY = 'kept'
    const stateOf = () => {
      const { vars, secrets, bindings } = account.workers.get('tonearm')!
      const { containers, domains, queues, buckets } = account
      const byName = bindings.toSorted((a, b) => a.name.localeCompare(b.name))
      return structuredClone({ vars, secrets, bindings: byName, containers, domains, queues, buckets })
    }
    const before = stateOf()
    expect(before.vars).toMatchObject({ S3_ENDPOINT: `${cloudflare.url}/s3`, PUBLIC_BASE_URL: cloudflare.url })
    expect(await wrangler(cloudflare, ['deploy', '--containers-rollout=none'])).toMatchObject({ code: 0 })
    expect(stateOf()).toEqual(before)
    expect(account.workers.get('tonearm')!.versions).toHaveLength(2)
  })

  test('npm run deploy keeps an address that is a secret', async () => {
    const worker = cloudflare.account.workers.get('tonearm')!
    delete worker.vars.TRANSCODER_URL
    worker.secrets.TRANSCODER_URL = 'https://secret.example.com'
    expect(await deploy(cloudflare, IMAGE)).toMatchObject({ code: 0 })
    const { vars, secrets } = cloudflare.account.workers.get('tonearm')!
    expect([vars.TRANSCODER_URL, secrets.TRANSCODER_URL]).toEqual([undefined, 'https://secret.example.com'])
  })
})

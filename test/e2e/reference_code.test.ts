import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { marked, type Tokens } from 'marked'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { samplesOf } from '../../scripts/build/docs/samples.ts'
import { readQuickStart } from '../../scripts/build/docs/search_entries.ts'
import type { OperationExample } from '../../scripts/build/openapi.ts'
import { zip } from '../../scripts/pack/archive.ts'
import { makePython } from '../../scripts/pack/python.ts'
import { type Client, createClient } from '../../src/client/index.ts'
import {
  type ClientOperationName as OperationName,
  clientOperations as operations,
} from '../../src/contract/client_operations.ts'
import exampleFile from '../../src/reference/examples.json' with { type: 'json' }
import { makeAudio } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { freePort } from '../support/stack.ts'
import { hasPython } from './has_python.ts'
import { PLAY, RECORD_PYTHON, translatedCommands } from './reference_programs.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must, settle, TIMEOUT, upload } from './steps.ts'
import { openTab } from './studio_steps.ts'

/** Tests the code in the pages below `/docs`, and in the comments of the client for TypeScript. */

const root = join(import.meta.dirname, '../..')
const CLIENT = join(root, 'packages/client/index.ts')
const PLAYBACK = join(root, 'packages/client/playback.ts')
const examples: Record<string, OperationExample> = exampleFile

let stack: Shared
let browser: Browser
let project: string

beforeAll(async () => {
  ;[stack, browser, project] = await Promise.all([joinStack(), joinBrowser(), makeProject()])
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
  if (project) await rm(project, { recursive: true })
})

const run = promisify(execFile)
/** Makes a project with an audio file and the package for Python. */
async function makeProject(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'tonearm-docs-'))
  await writeFile(join(made, 'package.json'), '{ "type": "module" }')
  await writeFile(join(made, 'song.mp3'), await makeAudio('mp3', { seconds: 6, channels: 1 }))
  await symlink(join(root, 'node_modules'), join(made, 'node_modules'))
  await writeFile(join(made, 'tonearm-0.0.0-py3-none-any.whl'), await zip(await makePython('0.0.0')))
  return made
}

/** Returns the blocks of code of a page in a language. */
const blocksIn = (markdown: string, language: string) =>
  marked
    .lexer(markdown)
    .filter((token) => token.type === 'code' && token.lang === language)
    .map((token) => (token as Tokens.Code).text)
const blocksOf = async (path: string, language: string) => blocksIn(await readFile(join(root, path), 'utf8'), language)

/** Makes code run against the stack, with the clients of this project. */
const connected = (code: string) =>
  code
    .replaceAll('https://audio.example.com', stack.base_url)
    .replace('@tonearm/client/playback', PLAYBACK)
    .replace('@tonearm/client', CLIENT)

/** Pages whose commands continue in the terminal of the quick start, in the order of docs/README.md. */
const PAGES =
  'concepts upload tags edit play embed share feeds waveform counting events webhooks keys playlists lists variants operate'.split(
    ' ',
  )

let count = 0

/** Writes a program to the project, and returns the command that runs it with the variables that the pages name. */
async function prepare(extension: string, code: string, ...args: string[]) {
  const file = join(project, `program_${count++}.${extension}`)
  await writeFile(file, connected(code))
  const command = { bash: 'bash', ts: process.execPath, py: 'python3' }[extension]!
  const wheel = join(project, 'tonearm-0.0.0-py3-none-any.whl')
  const env = { ...process.env, TONEARM_KEY: stack.api_key, PYTHONPATH: wheel }
  return [command, [file, ...args], { cwd: project, env }] as const
}

/** Runs a program in the project, and returns its output. */
const runProgram = async (...program: Parameters<typeof prepare>) => run(...(await prepare(...program)))

const NO_PYTHON = 'there is no Python 3.11 or later on the PATH'

describe('the quick start uploads a song and prints its play session', () => {
  test.for([
    ['bash', 'bash'],
    ['ts', 'ts'],
    ['python', 'py'],
  ] as const)('in %s', async ([language, extension], { skip }) => {
    skip(language === 'python' && !hasPython, NO_PYTHON)
    const [code] = blocksIn(await readQuickStart(), language)
    const { stdout } = await runProgram(extension, code!)
    expect(stdout).toMatch(/^ready\nPlayer: http\S+\/embed\/[\w-]{36}\n$/)
  })

  test('and the commands of the other pages continue in the same terminal', async () => {
    // Left out are commands for an operator, and those that wait for Ctrl-C.
    const [code] = blocksIn(await readQuickStart(), 'bash')
    const pages = await Promise.all(PAGES.map((page) => blocksOf(`docs/${page}.md`, 'bash')))
    const commands = pages.flat().filter((block) => !/^ROOT=|^WORKER=|^serve /m.test(block))
    const port = String(await freePort(12_000))
    const script = [code, ...commands]
      .join('\n')
      .replaceAll(/(?<!\d)3000\b/g, port)
      .replaceAll('sleep 1', 'sleep 0.2')
    const { stdout, stderr } = await runProgram('bash', script)
    // The page about edits shows the refusal of an old version.
    expect(stderr.trim()).toMatch(/^version_mismatch: .*$/)
    expect(stdout).toMatch(/^ready\nPlayer: /)
    expect(stdout.split('\n')).not.toContain('undefined')
  })
})

describe.each([
  ['TypeScript', 'ts', 'ts'],
  ['Python', 'python', 'py'],
])('the recipes in %s', (_, language, extension) => {
  beforeEach(({ skip }) => skip(language === 'python' && !hasPython, NO_PYTHON))
  const recipe = async (at: number) => (await blocksOf('docs/recipes.md', language))[at]!
  const client = () => createClient(stack)

  test('upload a file, and get a webhook', async () => {
    const port = String(await freePort(12_000))
    const { stdout } = await runProgram(extension, (await recipe(0)).replaceAll('3001', port))
    expect(stdout).toMatch(/^Collection: [\w-]{36}\ntrack\.ready track:[\w-]{36}\n$/)
    expect(await endpointsAt(port)).toEqual([])
  })

  test('an upload that fails prints the reason, and no failed run leaves an endpoint', async () => {
    const port = String(await freePort(12_000))
    const code = (await recipe(0)).replaceAll('3001', port)
    const { stdout, stderr } = await runProgram(extension, code.replaceAll('song.mp3', 'package.json'))
    expect([stdout, stdout + stderr]).toEqual([
      expect.stringMatching(/\ntrack\.failed track:/),
      expect.stringMatching(/^unsupported_\w+$|^text_file$/m),
    ])
    await expect(runProgram(extension, code.replaceAll('song.mp3', 'missing.mp3'))).rejects.toThrow(
      /missing\.mp3'|Unable to open file/,
    )
    const server = createServer().listen(Number(port), '127.0.0.1')
    await once(server, 'listening')
    await expect(runProgram(extension, code)).rejects.toThrow(/EADDRINUSE|Address already in use/)
    server.close()
    expect(await endpointsAt(port)).toEqual([])
  })

  test('a program without its arguments says what they are, and creates nothing', async () => {
    const count = async () => (await must(client().get('/v1/api_key', { query: { limit: 1 } }))).count
    const before = await count()
    await expect(runProgram(extension, await recipe(1))).rejects.toThrow(/Usage: .* COLLECTION_ID/)
    await expect(runProgram(extension, await recipe(2), 'id')).rejects.toThrow(/Usage: .* COLLECTION_ID PASSWORD/)
    expect(await count()).toBe(before)
  })

  const endpointsAt = async (port: string) => {
    const { webhook_endpoints } = await must(client().get('/v1/webhook_endpoint'))
    return webhook_endpoints.filter(({ url }) => url.includes(port))
  }

  test('serve a page whose player plays the collection', async () => {
    const port = String(await freePort(12_000))
    const { collection_id } = await aCollection(client())
    const code = (await recipe(1)).replaceAll('3002', port)
    const running = run(...(await prepare(extension, code, collection_id)))
    const { page, problems } = await openTab(browser)
    await vi.waitFor(() => page.goto(`http://localhost:${port}/`), { ...TIMEOUT, interval: 200 })
    await page.getByRole('button', { name: 'Play' }).first().waitFor(TIMEOUT)
    await page.getByText('Tide').first().waitFor(TIMEOUT)
    expect(problems).toEqual([])
    await page.context().close()
    running.child.kill()
    await running.catch(() => undefined)
  })

  test('share a collection with a password', async () => {
    const { collection_id } = await aCollection(client())
    const { stdout } = await runProgram(extension, await recipe(2), collection_id, 'correct horse')
    const { page } = await openTab(browser)
    await page.goto(stdout.trim())
    await page.getByLabel('Password').fill('correct horse')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Shore' }).waitFor(TIMEOUT)
    await page.context().close()
  })

  test('give each listener a private podcast feed', async () => {
    const { collection_id, track_id } = await aCollection(client())
    const { stdout } = await runProgram(extension, await recipe(3), collection_id, 'ana', 'ben')
    const lines = stdout.trim().split('\n')
    expect(lines).toEqual(['ana', 'ben'].map((name) => expect.stringMatching(`^${name}: http.*/feed\\.xml$`)))
    const feed = await (await fetch(lines[0]!.slice('ana: '.length))).text()
    expect(feed).toContain(`<guid isPermaLink="false">${track_id}</guid>`)
  })
})

/** Creates a collection with one track. */
async function aCollection(client: Client) {
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Shore' } }))
  const { track_id } = await upload(client, collection_id, 'Tide.mp3', await readFile(join(project, 'song.mp3')))
  await settle(client, track_id)
  return { collection_id, track_id }
}

test('the module for apps sends the seconds of a player, and gets a new token if the first one is unknown', async () => {
  const { collection_id, track_id } = await aCollection(createClient(stack))
  const create = { body: { collection_id } }
  const { heard_token } = await must(createClient(stack).post('/v1/play_session/collection', create))
  const [module] = await blocksOf('docs/listening.md', 'ts')
  const { stdout } = await runProgram('ts', `${module}\n${PLAY}`, stack.base_url, track_id, heard_token)
  expect(stdout.trim().split('\n')).toEqual([
    expect.stringMatching(/^404 first \[\[0,2\]\]$/),
    expect.stringMatching(/^204 [\da-f]{6,} \[\[0,2\]\]$/),
  ])
})

/** Returns the examples in the comments of a module. */
const examplesIn = (source: string) =>
  [...source.matchAll(/ \* ```ts\n([\s\S]*?) \* ```/g)].map(([, block]) => block!.replace(/^ \* ?/gm, ''))

test('the TypeScript of every operation, of the guides and of the comments compiles', async () => {
  const written: [string, string][] = []
  for (const [name, { method, path, access }] of Object.entries(operations)) {
    const example = examples[name]!
    const [, typescript] = samplesOf({
      ...example,
      name: name as OperationName,
      method,
      path,
      isPublic: access.length === 0,
    })
    written.push([name, typescript!.code])
  }
  const sources = ['docs/recipes.md', 'src/reference/quick_start.md', 'docs/listening.md']
  const programs = (await Promise.all(sources.map((path) => blocksOf(path, 'ts')))).flat()
  programs.push((await blocksOf('docs/packages.md', 'ts'))[0]!)
  written.push(...programs.map((code, at): [string, string] => [`guide_${at}`, code]))
  written.push(...(await translatedCommands('ts')))
  const documented: string[] = []
  for (const path of ['src/client/client.ts', 'src/client/webhook.ts', 'packages/client/upload_file.ts'])
    documented.push(...examplesIn(await readFile(join(root, path), 'utf8')))
  expect(documented).toHaveLength(5)
  written.push(...documented.map((code, at): [string, string] => [`comment_${at}`, code]))
  const directory = join(project, 'compiled')
  await mkdir(directory)
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
  await Promise.all(written.map(([name, code]) => writeFile(join(directory, `${name}.ts`), code)))
  const compilerOptions = {
    rootDir: '/',
    types: ['node'],
    paths: { '@tonearm/client': [CLIENT], '@tonearm/client/playback': [PLAYBACK] },
  }
  const config = { extends: join(root, 'tsconfig.base.json'), compilerOptions, include: [`${directory}/*.ts`] }
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { stdout } = await run(tsc, ['--singleThreaded', '-p', directory]).catch((error: { stdout: string }) => error)
  expect(stdout).toBe('')
})

test('the Python of every operation sends the request of its example', async ({ skip }) => {
  skip(!hasPython, NO_PYTHON)
  const samples = Object.entries(operations).map(([name, { method, path, access }]) => {
    const example = examples[name]!
    const request = { ...example, name: name as OperationName, method, path, isPublic: access.length === 0 }
    return [name, samplesOf(request).at(-1)!.code]
  })
  await writeFile(join(project, 'samples.json'), JSON.stringify([...samples, ...(await translatedCommands('python'))]))
  const { stdout } = await runProgram('py', RECORD_PYTHON)
  const sent = JSON.parse(stdout) as Record<
    string,
    { method: string; url: string; body: object | null; headers: object }
  >
  for (const [name, { method, path }] of Object.entries(operations)) {
    const { params = {}, query = {}, headers = {}, body } = examples[name]!
    const pathname = path.replace(/\{(\w+)\}/g, (_, param: string) => params[param]!)
    const { searchParams, pathname: sentPath } = new URL(sent[name]!.url)
    const request = { method: sent[name]!.method, path: sentPath, query: Object.fromEntries(searchParams) }
    expect([name, request]).toEqual([name, { method: method.toUpperCase(), path: pathname, query }])
    expect([name, sent[name]!.headers]).toEqual([name, expect.objectContaining(headers)])
    if (body && Object.keys(body).length > 0) expect([name, sent[name]!.body]).toEqual([name, body])
  }
})

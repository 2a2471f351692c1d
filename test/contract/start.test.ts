import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { startChild } from '../../scripts/shared/child_process.ts'
import { readSecrets } from '../../scripts/shared/secrets.ts'
import { readSettings } from '../../scripts/shared/settings.ts'
import { lockState } from '../../scripts/start/state_lock.ts'
import { createWatchdog } from '../../scripts/start/watchdog.ts'

/** How `npm start` locks the data on this machine and keeps it private. */

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tonearm-start-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const modeOf = (path: string) => statSync(path).mode & 0o7777
/** root lets other users traverse STATE_DIR, because ffmpeg runs as another user below it. */
const closed = process.getuid?.() === 0 ? 0o711 : 0o700
const lock = (path: string) => lockState(path, 'http://localhost:8787')

describe('STATE_DIR', () => {
  it.each(['new', 'existing'])('is closed to other users if it is %s', (state) => {
    const path = join(directory, 'state')
    const inner = ['v3', 'registry', 'logs', 'config'].map((name) => join(path, name))
    if (state === 'existing') for (const each of inner) mkdirSync(each, { recursive: true })
    for (const each of state === 'existing' ? [path, ...inner] : []) chmodSync(each, 0o755)
    lock(path)
    expect(modeOf(path)).toBe(closed)
    expect(inner.map(modeOf)).toEqual(inner.map(() => 0o700))
  })

  it('keeps its permissions if it is shared on purpose, like /tmp', () => {
    chmodSync(directory, 0o1777)
    lock(directory)
    expect(modeOf(directory)).toBe(0o1777)
  })

  it('can be locked if an earlier start left a damaged lock or owner file', () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    onTestFinished(() => log.mockRestore())
    writeFileSync(join(directory, 'lock'), 'no database '.repeat(100))
    writeFileSync(join(directory, 'running.json'), '{"pid":')
    lock(directory)
    expect(log.mock.calls.join()).toContain(join(directory, 'lock'))
    expect(JSON.parse(readFileSync(join(directory, 'running.json'), 'utf8'))).toMatchObject({ pid: process.pid })
    expect(() => lock(directory)).toThrow(
      `already runs on ${directory}: http://localhost:8787 (process ${process.pid})`,
    )
    writeFileSync(join(directory, 'running.json'), '"another text"')
    expect(() => lock(directory)).toThrow(`already runs on ${directory}.\n`)
  })

  it('is refused with the name of the lock file if that file cannot be opened', () => {
    mkdirSync(join(directory, 'lock'))
    expect(() => lock(directory)).toThrow(`STATE_DIR cannot be used: ${directory} (${join(directory, 'lock')}: `)
  })
})

it('a file with secrets that other users may read is closed to them', () => {
  const path = join(directory, '.dev.vars')
  writeFileSync(path, 'ROOT_KEY=a\n', { mode: 0o644 })
  readSecrets(path)
  expect(modeOf(path)).toBe(0o600)
})

it('an existing file with secrets keeps its lines, and gets those that are missing', () => {
  const path = join(directory, '.dev.vars')
  const before = 'ROOT_KEY=mine\nS3_ENDPOINT=http://localhost:9/s3\n'
  writeFileSync(path, before)
  const secrets = readSecrets(path, {
    S3_ENDPOINT: 'http://localhost:8787/s3',
    TRANSCODER_URL: 'http://127.0.0.1:8788',
  })
  expect(readFileSync(path, 'utf8').slice(0, before.length)).toBe(before)
  expect(secrets).toEqual(parseEnv(readFileSync(path, 'utf8')))
  expect(secrets).toMatchObject({ ROOT_KEY: 'mine', S3_ENDPOINT: 'http://localhost:9/s3' })
  const others = 'METRICS_KEY R2_ACCESS_KEY_ID R2_SECRET_ACCESS_KEY SIGNING_SECRET TRANSCODER_SECRET TRANSCODER_URL'
  expect(Object.keys(secrets).toSorted()).toEqual(['ROOT_KEY', 'S3_ENDPOINT', ...others.split(' ')].toSorted())
  expect(readSecrets(path)).toEqual(secrets)
})

it('the output of a child process contains no secrets, neither the lines that are printed nor those for an error message', async () => {
  const lines = [
    ['POST /v1/cover_upload/SECRET 200 OK', 'POST /v1/cover_upload/… 200 OK'],
    ['GET /s/SECRET 404 Not Found', 'GET /s/… 404 Not Found'],
    ['POST /s/SECRET/zip 303 See Other', 'POST /s/… 303 See Other'],
    ['GET /embed/s/SECRET?theme=dark 500', 'GET /embed/…?… 500'],
    ['GET /embed/SECRET 410 Gone', 'GET /embed/… 410 Gone'],
    ['GET /zip/SECRET?variant=original 409', 'GET /zip/…?… 409'],
    ['GET /v1/play/SECRET/SECRET/mp3-128/download 409', 'GET /v1/play/… 409'],
    ['GET /v1/play_session/SECRET 404', 'GET /v1/play_session/… 404'],
    ['POST /v1/play_session/track 201 Created', 'POST /v1/play_session/track 201 Created'],
    ['POST /v1/heard/SECRET 204 No Content', 'POST /v1/heard/… 204 No Content'],
    ['DELETE /v1/listener/SECRET/progress 200', 'DELETE /v1/listener/… 200'],
    ['POST /v1/upload/SECRET/track 201', 'POST /v1/upload/… 201'],
    ['GET /v1/upload_session/SECRET 404', 'GET /v1/upload_session/… 404'],
    ['PUT /cdn-cgi/local/r2/s3/a/b?X-Amz-Signature=SECRET 403', 'PUT /cdn-cgi/local/r2/s3/a/b?… 403'],
    ['GET /oembed?url=https%3A%2F%2Fa.example%2Fs%2F_SECRET 404', 'GET /oembed?… 404'],
    ['{"url":"http://localhost:8787/s/SECRET?a","id":1}', '{"url":"http://localhost:8787/s/…?…","id":1}'],
    ['the key ta_sk_SECRET.1.SECRET was refused', 'the key ta_sk_… was refused'],
    ['POST /v1/track/0198a1b2/upload 409', 'POST /v1/track/0198a1b2/upload 409'],
    ['at /home/s/elsewhere.ts:1', 'at /home/s/elsewhere.ts:1'],
  ]
  const printed: string[] = []
  const child = startChild({
    command: [process.execPath, '-e', `console.log(${JSON.stringify(lines.map(([line]) => line).join('\n'))})`],
    env: process.env,
    onLine: (line) => printed.push(line),
  })
  await child.closed
  expect(printed).toEqual(lines.map(([, shown]) => shown))
  expect(child.tail).toEqual(printed)
})

it('the transcoder has the port after PORT, and the keys of the environment replace those of the file', () => {
  const keys = { ROOT_KEY: 'root'.repeat(6), METRICS_KEY: 'metrics' }
  const stub = (environment: Record<string, string>) => {
    for (const name of ['PORT', 'TRANSCODER_PORT', 'ROOT_KEY', 'METRICS_KEY']) vi.stubEnv(name, environment[name])
    return readSettings()
  }
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(stub(keys)).toMatchObject({ port: 8787, transcoderPort: 8788, secrets: keys })
  expect(stub({ PORT: '9000' })).toMatchObject({ port: 9000, transcoderPort: 9001 })
  expect(stub({ PORT: '9000', TRANSCODER_PORT: '7' })).toMatchObject({ port: 9000, transcoderPort: 7 })
  expect(stub({ PORT: '65535' })).toMatchObject({ port: 65_535, transcoderPort: 65_534 })
  expect(Object.values(stub({}).secrets)).not.toContain('metrics')
})

/** A server that answers until a response has been sent. Its child works until SIGUSR2. */
const SILENT_SERVER = `const child = require('child_process').spawn(process.execPath, ['-e', 'for (;;);'])
process.on('SIGUSR2', () => child.kill('SIGKILL'))
process.on('exit', () => child.kill('SIGKILL'))
process.on('SIGTERM', () => process.exit())
let isSilent = false
require('http').createServer((_, response) => isSilent || response.on('finish', () => (isSilent = true)).end())
  .listen(0, '127.0.0.1', function () { console.log(this.address().port) })`

it.runIf(process.platform === 'linux')(
  'a Worker that is silent but busy is not restarted, until it is idle',
  async () => {
    const server = spawn(process.execPath, ['-e', SILENT_SERVER], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void server.kill())
    const [port] = (await once(server.stdout, 'data')) as [Buffer]
    const limits = { start: 60_000, probe: 1000, silence: 400, afterCrash: 60_000, busy: 60_000 }
    const { whenUnresponsive } = createWatchdog(`http://127.0.0.1:${String(port).trim()}/health`, limits)
    const [pid, slow] = [server.pid!, Promise.withResolvers<string>()]
    const ended = whenUnresponsive(
      pid,
      () => true,
      () => slow.resolve('is slow'),
    )
    expect(await Promise.race([slow.promise, ended])).toBe('is slow')
    server.kill('SIGUSR2')
    expect(await ended).toMatch(/^no answer for \d+ s$/)
  },
)

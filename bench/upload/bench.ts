import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import type { Page } from 'playwright-core'

import { makeWav } from '../../scripts/deploy/sample_files.ts'
import { startHostPage } from '../../test/support/host_page.ts'
import { type NetworkProxy, openNetworkProxy } from '../../test/support/network_proxy.ts'
import { type Stack, startStack } from '../../test/support/stack.ts'
import { onEnd, withCleanup } from '../worker/cleanup.ts'
import { launch } from './browser.ts'

const HELP = `npm run bench -- upload [OPTIONS]      Linux only; loopback only
  --size 1000      size of the file in MB
  --cut 20         MB after which the proxy ends each connection
  --kills 5        number of browser kills, at random moments
  --seed 1         repeats the same moments

Uploads a WAV with the real element in Chromium, and resumes after each kill as a user would: by choosing the file again. The last line
says whether the stored file is identical, and how many parts were resent; the bench fails if there are more of them than broken
connections.`

const MB = 1e6
/** Timeout of every wait, in milliseconds. */
const LIMIT = 30 * 60_000

/** Uploads a large file from a browser over a connection that breaks repeatedly. The browser is also killed several times. */
export const upload = {
  about: 'a large upload over cut connections from a killed browser: integrity, and parts that were resent',
  async run(args: string[]): Promise<void> {
    const text = (standard: string) => ({ type: 'string', default: standard }) as const
    const options = { size: text('1000'), cut: text('20'), kills: text('5'), seed: text('1') }
    const { values } = parseArgs({ args, options: { ...options, help: { type: 'boolean', default: false } } })
    if (values.help) return console.log(HELP)
    const size = Number(values.size) * MB
    const killAfter = killPoints(Number(values.kills), size, Number(values.seed))
    await withCleanup(() => uploadOne({ size, cut: Number(values.cut) * MB, killAfter }))
  },
}

/**
 * Returns the number of uploaded bytes after which each browser is killed. The same seed gives the same numbers. Their sum is less than the
 * size of the file.
 */
function killPoints(kills: number, size: number, seed: number): number[] {
  const roll = (at: number) => createHash('sha256').update(`${seed} ${at}`).digest().readUInt32LE() / 2 ** 32
  return Array.from({ length: kills }, (_, at) => ((0.2 + 0.9 * roll(at)) * size) / (kills + 1))
}

const startedAt = Date.now()
const say = (line: string) => console.log(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${line}`)

interface Plan {
  size: number
  cut: number
  killAfter: number[]
}

async function uploadOne({ size, cut, killAfter }: Plan): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'tonearm-upload-'))
  onEnd(() => rm(directory, { recursive: true, force: true }))
  const path = join(directory, 'album.wav')
  const hash = await writeWav(path, size)
  say(`made ${path}, ${size / MB} MB`)
  const stack = await startStack()
  onEnd(stack.dispose)
  const line = await openNetworkProxy()
  onEnd(line.close)
  line.cutEach(cut)
  const hostPage = await startHostPage()
  onEnd(hostPage.close)
  const { collection_id } = await call<{ collection_id: string }>(stack, '/collection', { title: 'Cut' })
  const key = { title: 'Cut', type: 'uploader', collection_id, allowed_origins: [hostPage.origin] }
  const { secret } = await call<{ secret: string }>(stack, '/api_key', key)
  hostPage.show(`<!doctype html><title>Cut</title><script type="module" src="${stack.base_url}/elements/uploader.js"></script>
    <tonearm-uploader api-key="${secret}" collection-id="${collection_id}"></tonearm-uploader>`)

  const profile = join(directory, 'profile')
  for (const bytes of [...killAfter, Infinity]) {
    const browser = await launch(profile, line.server)
    onEnd(browser.kill)
    await browser.page.goto(hostPage.origin)
    const before = line.passed()
    await choose(browser.page, path, before === 0)
    if (bytes === Infinity) await untilReady(browser.page)
    else await untilPassed(line, before + bytes)
    await browser.kill()
    if (bytes < Infinity) say(`killed the browser after ${(bytes / MB).toFixed(0)} MB; ${line.cuts()} cuts so far`)
  }
  await report(stack, collection_id, { hash, line, kills: killAfter.length })
}

/**
 * Writes a WAV file of this size and returns its SHA-256. Most of it is a chunk of noise that decoders skip, followed by one second of
 * sound, so that transcoding is fast.
 */
async function writeWav(path: string, size: number): Promise<string> {
  const wav = Buffer.from(makeWav())
  const chunk = Buffer.from('JUNK\0\0\0\0')
  const noise = size - wav.length - chunk.length
  chunk.writeUInt32LE(noise, 4)
  wav.writeUInt32LE(size - 8, 4)
  const hash = createHash('sha256')
  const file = await open(path, 'w')
  const put = async (part: Buffer) => {
    hash.update(part)
    await file.write(part)
  }
  await put(wav.subarray(0, 12))
  await put(chunk)
  for (let left = noise; left > 0; left -= MB) await put(randomBytes(Math.min(MB, left)))
  await put(wav.subarray(12))
  await file.close()
  return hash.digest('hex')
}

/** Chooses the file in the uploader. After a kill, waits until the upload's list item requests the file, and chooses it again. */
async function choose(page: Page, path: string, isFirst: boolean): Promise<void> {
  const element = page.locator('tonearm-uploader')
  const name = isFirst ? 'Choose files' : 'Choose the file'
  if (!isFirst) say((await element.getByText(/again to go on at \d+%/).textContent()) ?? '')
  const chooser = page.waitForEvent('filechooser', { timeout: LIMIT })
  await element.getByRole('button', { name }).click({ timeout: LIMIT })
  await (await chooser).setFiles(path)
}

async function untilPassed(line: NetworkProxy, bytes: number): Promise<void> {
  for (const end = Date.now() + LIMIT; line.passed() < bytes; await new Promise((resolve) => setTimeout(resolve, 20))) {
    if (Date.now() > end) throw new Error(`only ${line.passed()} bytes passed`)
  }
}

/** Waits until the track is processed, because its original cannot be fetched earlier. */
async function untilReady(page: Page): Promise<void> {
  const item = page.locator('tonearm-uploader li')
  const timeout = { timeout: LIMIT }
  await item.and(page.locator('[data-state=processing], [data-state=ready], [data-state=failed]')).waitFor(timeout)
  say('all bytes have arrived')
  await item.and(page.locator('[data-state=ready], [data-state=failed]')).waitFor(timeout)
}

async function call<T>({ base_url, api_key }: Stack, path: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' }
  const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
  const response = await fetch(`${base_url}/v1${path}`, init)
  if (!response.ok) throw new Error(`${path} answered ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

/** Returns the SHA-256 of the stored original of a track. */
async function hashOf(stack: Stack, track_id: string): Promise<string> {
  const body = { track_id, variants: ['original'] }
  const { play_session_id } = await call<{ play_session_id: string }>(stack, '/play_session/track', body)
  const view = await call<{ variants: { url: string }[] }>(stack, `/play/${play_session_id}/${track_id}`)
  const hash = createHash('sha256')
  const answer = await fetch(view.variants[0]?.url ?? '')
  for await (const part of answer.body ?? []) hash.update(part)
  return hash.digest('hex')
}

interface Outcome {
  hash: string
  line: NetworkProxy
  kills: number
}

async function report(stack: Stack, collection_id: string, { hash, line, kills }: Outcome): Promise<void> {
  const { tracks } = await call<{ tracks: { id: string }[] }>(stack, `/collection/${collection_id}/track`)
  const isEqual = tracks[0] !== undefined && (await hashOf(stack, tracks[0].id)) === hash
  const parts = new Set(line.parts.map(({ number }) => number)).size
  const resent = line.parts.length - parts
  // Requests that were in flight when the browser was killed count as failed.
  const broken = line.parts.filter(({ isAnswered }) => !isAnswered).length
  const isCorrect = isEqual && tracks.length === 1 && resent <= broken
  console.log(
    `${isCorrect ? 'ok' : 'WRONG'}: SHA-256 ${isEqual ? 'equal' : 'DIFFERENT'}, ${tracks.length} track, ${parts} parts, ${resent} sent again; ` +
      `${line.cuts()} cuts by the proxy and ${broken - line.cuts()} by ${kills} kills`,
  )
  if (!isCorrect) process.exitCode = 1
}

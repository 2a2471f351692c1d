import { execFile } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { exportPlayable } from '../../scripts/export/playable.ts'
import type { TonearmPlayer } from '../../src/elements/player/index.ts'
import { makeImage } from '../support/audio.ts'
import { setUp, type Workspace } from './player_setup.ts'
import { bytes, must, send, untilCovered } from './steps.ts'

/** `npm run export -- --playable` writes a folder that plays without the service, from a plain file server and from the disk. */

const TITLE = '</script><b>Rooms</b> مرحبا'
const PLAYED = ['first', 'second', 'third']

let workspace: Workspace
let to: string

beforeAll(async () => {
  workspace = await setUp()
  const { server, stack } = workspace
  const album = await workspace.anAlbum(Object.fromEntries(PLAYED.map((name) => [name, { seconds: 1 }])))
  const { collection_id, track_ids } = album
  await must(server.put('/v1/collection/{collection_id}', { params: { collection_id }, body: { title: TITLE } }))
  const { collection_cover_upload } = await must(
    server.post('/v1/collection/{collection_id}/cover', { params: { collection_id } }),
  )
  await send(collection_cover_upload, bytes(await makeImage('jpeg', 1500, 1500)))
  await untilCovered(server, track_ids[0]!)
  const chapters = { version: '1.2.0' as const, chapters: [{ startTime: 0, title: 'A part' }] }
  await must(server.put('/v1/track/{track_id}/chapters', { params: { track_id: track_ids[0]! }, body: chapters }))
  const { playlist_id } = await must(server.post('/v1/playlist', { body: { title: 'Mixed' } }))
  const params = { playlist_id }
  await must(server.post('/v1/playlist/{playlist_id}/track', { params, body: { track_ids: track_ids.slice(1) } }))
  await must(server.post('/v1/track', { body: { collection_id, file_name: 'never sent.wav' } }))
  to = await mkdtemp(join(tmpdir(), 'tonearm-playable-'))
  await exportPlayable(stack.base_url, stack.api_key, to)
})
afterAll(async () => {
  await workspace?.dispose()
  if (to) await rm(to, { recursive: true })
})

/** A file server that knows nothing but files and ranges. */
async function serve() {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = join(to, 'site', decodeURIComponent(new URL(request.url!, 'http://host').pathname))
    const found = await stat(path).catch(() => null)
    if (!found?.isFile()) return void response.writeHead(404).end()
    const types: Record<string, string> = {
      html: 'text/html',
      js: 'text/javascript',
      m4a: 'audio/mp4',
      mp3: 'audio/mpeg',
    }
    const type = types[path.split('.').at(-1)!] ?? 'application/octet-stream'
    const [, from] = /^bytes=(\d+)-/.exec(request.headers.range ?? '') ?? []
    const start = Number(from ?? 0)
    const range = { 'content-range': `bytes ${start}-${found.size - 1}/${found.size}` }
    const headers = { 'content-type': type, 'accept-ranges': 'bytes', 'content-length': found.size - start }
    response.writeHead(from === undefined ? 200 : 206, { ...headers, ...(from !== undefined && range) })
    createReadStream(path, { start }).pipe(response)
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve)))
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

/** Opens the first page, follows the link of the collection, and plays its three tracks. */
async function playAll(base: string) {
  const page = await workspace.browser.newPage()
  const problems: string[] = []
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('requestfailed', (request) => problems.push(`${request.url()} ${request.failure()?.errorText}`))
  page.on('response', (response) => response.status() >= 400 && problems.push(`${response.url()} ${response.status()}`))
  page.on(
    'request',
    (request) =>
      !/^(data|blob):/.test(request.url()) && !request.url().startsWith(base) && problems.push(request.url()),
  )
  await page.goto(`${base}/index.html`)
  await page.getByText('Rooms').click()
  await page.locator('h1').waitFor()
  const titles = await page.evaluate(
    () =>
      new Promise<string[]>((resolve) => {
        const player = document.querySelector<TonearmPlayer>('tonearm-player')!
        const titles: string[] = []
        player.addEventListener('tonearm-ended', ({ detail }) => {
          titles.push(detail.track?.player_title ?? '')
          if (detail.last) resolve(titles)
        })
        void customElements.whenDefined('tonearm-player').then(() => player.play())
      }),
  )
  const heading = await page.locator('h1').textContent()
  await page.close()
  return { titles, heading, problems }
}

test('plays all tracks in a row from a file server and from the disk, without a request elsewhere', async () => {
  const server = await serve()
  const expected = { titles: PLAYED, heading: TITLE, problems: [] }
  expect(await playAll(server.origin)).toEqual(expected)
  expect(await playAll(pathToFileURL(join(to, 'site')).href)).toEqual(expected)
  await server.close()
})

test('has checksums, every resource, and no secret', async () => {
  await promisify(execFile)('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: to })
  const read = async (name: string) => JSON.parse(await readFile(join(to, 'data', `${name}.json`), 'utf8'))
  expect(await read('organization')).toMatchObject({ id: workspace.stack.organization_id })
  expect(await read('tracks')).toHaveLength(4)
  expect(await read('playlists')).toMatchObject([{ title: 'Mixed' }])
  const { stdout } = await promisify(execFile)('grep', [
    '-rlE',
    'X-Amz-Signature=|ta_sk_\\w{40}|"heard_token"',
    to,
  ]).catch((error: { stdout: string }) => error)
  expect(stdout).toBe('')
  const site = await promisify(execFile)('grep', ['-rlE', '127\\.0\\.0\\.1|localhost', join(to, 'site')]).catch(
    (error: { stdout: string }) => error,
  )
  expect(site.stdout.split('\n').filter((name) => !name.endsWith('.js'))).toEqual([''])
})

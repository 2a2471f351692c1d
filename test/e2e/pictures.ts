import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Locator, Page } from 'playwright-core'
import sharp from 'sharp'

import { createClient, waitForTrack } from '../../src/client/index.ts'
import type { UploadHandle } from '../../src/contract/media.ts'
import type { TonearmPlayer } from '../../src/elements/player/index.ts'
import { makeAudio } from '../support/audio.ts'
import { joinBrowser } from '../support/browser.ts'
import { startHostPage } from '../support/host_page.ts'
import { openNetworkProxy } from '../support/network_proxy.ts'
import { startStack } from '../support/stack.ts'
import { noiseWav } from '../support/wav.ts'
import { drawCovers } from './covers.ts'

/**
 * `npm run pictures`: takes the pictures in docs/images. Starts a separate stack with an album whose covers are drawn and whose audio is noise in the shape of
 * songs, and opens the player, a share, the studio and the uploader in Chromium. Check the pictures before you commit them.
 */

const ALBUM = { title: 'Harbour Lights', player_subtitle: 'The Tonearm Ensemble' }
/** The loudness of a song's parts, from 0 to 1. */
const PARTS = [
  [0.25, 0.5, 0.85, 0.55, 0.95, 0.35, 1, 0.9, 0.3],
  [0.6, 0.7, 0.9, 0.3, 0.7, 1, 0.5, 0.2],
  [0.15, 0.35, 0.5, 0.75, 0.4, 0.9, 1, 1, 0.6, 0.2],
  [0.8, 0.45, 0.8, 0.45, 1, 0.3, 0.95],
  [0.3, 0.9, 0.4, 0.95, 0.25, 0.6, 1, 0.7, 0.4, 0.15],
]
const PATIENCE = 300_000

const folder = join(import.meta.dirname, '../../docs/images')
const stack = await startStack()
const [browser, host, network] = await Promise.all([joinBrowser(), startHostPage(), openNetworkProxy()])
const files = await mkdtemp(join(tmpdir(), 'tonearm-pictures-'))
const client = createClient({ base_url: stack.base_url, api_key: stack.api_key })

try {
  const covers = await drawCovers()
  const album = await createAlbum(covers)
  await takePlayer(album)
  await takeShare(album)
  await takeStudio(album)
  await takeUploader(covers[0]!.png)
} finally {
  await browser.close()
  await Promise.all([host.close(), network.close(), stack.dispose(), rm(files, { recursive: true })])
}

/** Returns the response of a call that must succeed. */
async function must<T extends { ok: boolean }>(call: Promise<T>): Promise<Extract<T, { ok: true }>> {
  const result = await call
  if (!result.ok) throw new Error(JSON.stringify(result))
  return result as Extract<T, { ok: true }>
}

async function send({ method, upload_url }: UploadHandle, body: Buffer, type?: string): Promise<void> {
  const headers = type ? { 'content-type': type } : undefined
  const { ok, status } = await fetch(upload_url, { method, body: new Uint8Array(body), headers })
  if (!ok) throw new Error(`The upload failed with ${status}`)
}

function aSong(index: number): Promise<Buffer> {
  const parts = PARTS[index]!
  const seconds = 150 + ((index * 37) % 90)
  const part = seconds / parts.length
  const loudness = parts.map((level, i) => `${level}*between(t,${i * part},${(i + 1) * part})`).join('+')
  const beat = `(0.6+0.4*abs(sin(t*${0.9 + index / 5})))*(0.8+0.2*sin(t*${2.1 + index / 3}))`
  return makeAudio('mp3', { seconds, rate: 16_000, channels: 1, expression: `(random(0)-0.5)*(${loudness})*${beat}` })
}

async function createAlbum(covers: { title: string; png: Buffer }[]): Promise<string> {
  const { collection_id, collection_cover_upload } = await must(client.post('/v1/collection', { body: ALBUM }))
  await send(collection_cover_upload, covers[0]!.png, 'image/png')
  for (const [i, { title, png }] of covers.entries()) {
    const body = { collection_id, file_name: `${title}.mp3` }
    const { track_id, track_upload, track_cover_upload } = await must(client.post('/v1/track', { body }))
    await send(track_upload, await aSong(i))
    await must(client.post('/v1/track/{track_id}/upload_complete', { params: { track_id } }))
    await must(waitForTrack(client, track_id))
    await send(track_cover_upload, png, 'image/png')
    let isCovered = false
    while (!isCovered) {
      const { track } = await must(client.get('/v1/track/{track_id}', { params: { track_id } }))
      isCovered = track.image_colors.length > 0
      if (!isCovered) await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
  return collection_id
}

async function save(name: string, picture: Buffer): Promise<void> {
  const { size } = await sharp(picture)
    .png({ palette: true, quality: 90, effort: 10 })
    .toFile(join(folder, `${name}.png`))
  console.log(`docs/images/${name}.png  ${Math.round(size / 1000)} KB`)
}

/** Opens a page in a new window. */
async function open(url: string, width: number, height: number, options: object = {}): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width, height },
    deviceScaleFactor: 2,
    reducedMotion: 'reduce',
    ...options,
  })
  context.setDefaultTimeout(PATIENCE)
  const page = await context.newPage()
  await page.goto(url)
  return page
}

/** Shows an element of Tonearm on a page of another origin. */
function show(element: 'player' | 'uploader', attributes: Record<string, string>): void {
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`)
  host.show(`<!doctype html><html lang="en"><title>Shop</title>
    <script type="module" src="${stack.base_url}/elements/${element}.js"></script>
    <tonearm-${element}${written.join('')}></tonearm-${element}>`)
}

/** Waits until a player shows a track with its cover, and moves it to a position in seconds. */
async function seek(player: Locator, seconds: number): Promise<void> {
  await player.evaluate(async (element, to) => {
    const { shadowRoot } = element as TonearmPlayer
    while ((element as TonearmPlayer).variant === null) await new Promise(requestAnimationFrame)
    ;(element as TonearmPlayer).pause()
    await (element as TonearmPlayer).seek(to)
    await shadowRoot!.querySelector('img')!.decode()
    await document.fonts.ready
    await Promise.all(shadowRoot!.getAnimations().map(({ finished }) => finished))
  }, seconds)
}

async function takePlayer(collection_id: string): Promise<void> {
  const body = { collection_id, is_downloadable: true }
  const { play_session_id } = await must(client.post('/v1/play_session/collection', { body }))
  const take = async (attributes: Record<string, string>, seconds: number) => {
    show('player', { 'play-session-id': play_session_id, ...attributes })
    const page = await open(host.origin, 720, 800)
    const player = page.locator('tonearm-player')
    await seek(player, seconds)
    const picture = await player.screenshot({ omitBackground: true })
    await page.context().close()
    return picture
  }
  await save('player-light', await take({ theme: 'light', download: '', track: '1' }, 86))
  await save('player-dark', await take({ theme: 'dark', download: '', track: '3' }, 64))
  const compact: Buffer[] = []
  for (let track = 1; track <= 5; track++)
    compact.push(await take({ theme: 'light', layout: 'compact', track: `${track}` }, 40 + track * 17))
  await save('player-compact', compact[1]!)
  await save('player-covers', await stacked(compact))
}

/** Returns pictures as one, below each other. */
async function stacked(pictures: Buffer[]): Promise<Buffer> {
  const { width, height } = await sharp(pictures[0]).metadata()
  const pitch = height + 24
  const all = { width, height: pitch * pictures.length - 24, channels: 4 as const, background: '#0000' }
  const placed = pictures.map((input, i) => ({ input, left: 0, top: i * pitch }))
  return sharp({ create: all }).composite(placed).png().toBuffer()
}

async function takeShare(collection_id: string): Promise<void> {
  const body = { scope: 'collection' as const, id: collection_id, is_downloadable: true }
  const { share } = await must(client.post('/v1/share', { body }))
  const page = await open(share.url, 1000, 760, { deviceScaleFactor: 1.5 })
  await seek(page.locator('tonearm-player'), 86)
  await save('share', await page.screenshot())
  await page.context().close()
}

async function takeStudio(collection_id: string): Promise<void> {
  const shapes = { wide: [1440, 860, 1], phone: [390, 800, 1.5] } as const
  for (const [name, [width, height, deviceScaleFactor]] of Object.entries(shapes)) {
    const touch = name === 'phone' ? { isMobile: true, hasTouch: true } : {}
    const page = await open(`${stack.base_url}/#key=${stack.api_key}`, width, height, { deviceScaleFactor, ...touch })
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.evaluate((id) => (location.hash = `#/collection/${id}`), collection_id)
    await page.getByRole('button', { name: 'Play Paper Gardens' }).click()
    await seek(page.locator('.dock tonearm-player'), 71)
    await page.mouse.move(0, 0)
    await page.waitForLoadState('networkidle')
    await save(`studio-${name}`, await page.screenshot())
    await page.context().close()
  }
}

async function takeUploader(cover: Buffer): Promise<void> {
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Inbox' } }))
  const key = { title: 'Shop', type: 'uploader' as const, collection_id, allowed_origins: [host.origin] }
  const { secret } = await must(client.post('/v1/api_key', { body: key }))
  show('uploader', {
    'api-key': secret,
    'collection-id': collection_id,
    concurrency: '2',
    theme: 'light',
    'max-size': '100 MB',
  })
  const page = await open(host.origin, 640, 900, { proxy: { server: network.server } })
  const uploader = page.locator('tonearm-uploader')
  const row = (name: string) => uploader.getByRole('listitem').filter({ hasText: name })
  const take = async (name: string) =>
    save(`uploader-${name}`, await uploader.screenshot({ omitBackground: true, animations: 'disabled' }))
  const choose = async (...chosen: [name: string, content: Buffer][]) => {
    const paths = chosen.map(([name]) => join(files, name))
    await Promise.all(chosen.map(([, content], i) => writeFile(paths[i]!, content)))
    await uploader.locator('input[type=file]').first().setInputFiles(paths)
  }
  await uploader.getByRole('button').first().waitFor()
  await take('empty')

  // The connection stops midway.
  network.hold()
  const [slow, short] = [noiseWav(192_000, 60, 16), noiseWav(8000, 3)]
  await choose(['Harbour at Dusk.wav', slow], ['Night Trains.wav', slow], ['Paper Gardens.wav', short])
  await page.waitForFunction(() =>
    document
      .querySelector('tonearm-uploader')!
      .files.slice(0, 2)
      .every(({ fraction }) => fraction > 0.01),
  )
  await page.evaluate(
    (png) =>
      document
        .querySelector('tonearm-uploader')!
        .addCover('file-1', new File([Uint8Array.from(png)], 'cover.png', { type: 'image/png' })),
    [...cover],
  )
  await take('uploading')

  await row('Night Trains.wav').getByRole('button', { name: 'Pause' }).click()
  await row('Night Trains.wav').getByText('Paused.').waitFor()
  await take('paused')

  network.flow()
  await row('Night Trains.wav').getByRole('button', { name: 'Resume' }).click()
  await choose(['Voice memo.mp3', Buffer.from('%PDF-1.7\n\0'.repeat(20_000))])
  await uploader.getByText('3 files ready').first().waitFor()
  await uploader.locator('li[data-state=failed]').waitFor()
  await take('failed')
}

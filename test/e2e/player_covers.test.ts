import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { findings } from './axe.ts'
import { drawCovers } from './covers.ts'
import { copyTrack, SONG } from './library.ts'
import { type Opened, PATIENCE, setUp, type Workspace } from './player_setup.ts'
import { bytes, must, send, untilCovered } from './steps.ts'

/** Tests the player with five covers in every layout and theme. */

let workspace: Workspace
let collection_id: string
let play_session_id: string

beforeAll(async () => {
  workspace = await setUp()
  const body = { title: 'Five covers', player_subtitle: 'The Tonearm Ensemble' }
  collection_id = (await must(workspace.server.post('/v1/collection', { body }))).collection_id
  const track_ids: string[] = []
  for (const { title, png } of await drawCovers()) {
    const { track_id, track_cover_upload } = await copyTrack(workspace.stack, collection_id, `${title}.mp3`, SONG)
    await send(track_cover_upload, bytes(png), { 'content-type': 'image/png' })
    track_ids.push(track_id)
  }
  await Promise.all(track_ids.map((id) => untilCovered(workspace.server, id)))
  play_session_id = await workspace.aSession({ collection_id, track_ids: [] }, { is_downloadable: true })
})
afterAll(() => workspace?.dispose())

const appearances = {
  light: { theme: 'light', download: '', track: '1' },
  dark: { theme: 'dark', download: '', track: '3' },
  compact: { theme: 'light', layout: 'compact', track: '2' },
  cover: { theme: 'light', layout: 'cover', track: '4' },
  phone: { theme: 'dark', track: '5' },
}

async function untilShown({ page }: Opened): Promise<void> {
  await page.evaluate(async () => {
    const root = document.querySelector('tonearm-player')!.shadowRoot!
    await root.querySelector('img')!.decode()
    await Promise.all(root.getAnimations().map(({ finished }) => finished))
  })
}

test.each(Object.entries(appearances))(
  'the player is readable and passes every accessibility check with each of five covers, %s',
  async (name, attributes) => {
    const viewport = { width: name === 'phone' ? 375 : 720, height: 800 }
    const options = { viewport, reducedMotion: 'reduce', deviceScaleFactor: 2 } as const
    const opened = await workspace.open({ 'play-session-id': play_session_id, ...attributes }, options)
    await opened.until('ready')
    await opened.call('seek', 17)
    await untilShown(opened)
    const painted = new Set<string>()
    for (let place = 0; place < 5; place++) {
      await opened.page.locator('tonearm-player .track').nth(place).dispatchEvent('click')
      const loaded = (wanted: number) => {
        const { tracks, track, variant } = document.querySelector('tonearm-player')!
        return variant !== null && track !== null && tracks.indexOf(track) === wanted
      }
      await opened.page.waitForFunction(loaded, place)
      await opened.call('pause')
      await opened.call('seek', 8 + place * 6)
      await untilShown(opened)
      const color = () =>
        opened.page.evaluate(
          () =>
            getComputedStyle(document.querySelector('tonearm-player')!.shadowRoot!.querySelector('.play-button')!)
              .backgroundColor,
        )
      // Each cover results in another color, which the player applies soon after the track changes.
      await expect.poll(async () => painted.has(await color()), PATIENCE).toBe(false)
      painted.add(await color())
      expect(await findings(opened.page)).toEqual([])
    }
    expect(opened.problems).toEqual([])
    await opened.close()
  },
)

test('the lock screen gets a large cover besides the three squares, with their true sizes and types', async () => {
  const opened = await workspace.open({ 'play-session-id': play_session_id })
  await opened.until('ready')
  await opened.call('play')
  await opened.untilTime(0.1)
  await opened.page.waitForFunction(() => navigator.mediaSession.metadata !== null, null, PATIENCE)
  const artwork = await opened.page.evaluate(() =>
    navigator.mediaSession.metadata!.artwork.map(({ src, sizes, type }) => ({ src, sizes, type })),
  )
  expect(artwork.map(({ sizes, type }) => `${sizes} ${type}`)).toEqual(
    ['80x80', '200x200', '400x400', '600x600'].map((size) => `${size} image/jpeg`),
  )
  for (const { src, sizes, type } of artwork) {
    const response = await fetch(src)
    expect(response.headers.get('content-type')).toBe(type)
    const { width, height } = await sharp(Buffer.from(await response.arrayBuffer())).metadata()
    expect(`${width}x${height}`).toBe(sizes)
  }
  await opened.close()
})

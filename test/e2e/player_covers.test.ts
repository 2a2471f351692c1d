import { join } from 'node:path'

import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { findings } from './axe.ts'
import { copyTrack, type Song, SONG } from './library.ts'
import { drawCovers } from './player_covers.ts'
import { type Opened, PATIENCE, setUp, type Workspace } from './player_setup.ts'
import { bytes, must, send, untilCovered } from './steps.ts'
import { openTab, rowOf, signIn, untilPlaying, untilStill, visit } from './studio_steps.ts'

/**
 * Tests the player with five covers in every layout and theme, and a collection in the studio. With
 * `SCREENSHOTS=<directory>`, the tests save the pictures for docs/images to that directory.
 */

const { SCREENSHOTS } = process.env

let workspace: Workspace
let collection_id: string
let play_session_id: string

beforeAll(async () => {
  workspace = await setUp()
  const body = { title: 'Five covers', player_subtitle: 'The Tonearm Ensemble' }
  collection_id = (await must(workspace.server.post('/v1/collection', { body }))).collection_id
  const track_ids: string[] = []
  for (const [i, { title, png }] of (await drawCovers()).entries()) {
    const expression = `(random(0)-0.5)*abs(sin(t*${0.21 + i / 20})*sin(t*${1.7 + i / 3}))*(0.35+0.6*abs(sin(t/${7 + i})))`
    const song: Song = SCREENSHOTS ? ['mp3', { seconds: 30 + i * 7, expression }] : SONG
    const { track_id, track_cover_upload } = await copyTrack(workspace.stack, collection_id, `${title}.mp3`, song)
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
  phone: { theme: 'dark', track: '5' },
}

async function untilShown({ page }: Opened): Promise<void> {
  await page.evaluate(async () => {
    const root = document.querySelector('tonearm-player')!.shadowRoot!
    await root.querySelector('img')!.decode()
    await Promise.all(root.getAnimations().map(({ finished }) => finished))
  })
}

const shoot = ({ page }: Opened) => page.locator('tonearm-player').screenshot({ omitBackground: true })

/** Saves pictures as one image, stacked vertically. */
async function leave(name: string, pictures: Buffer[]): Promise<void> {
  const sizes = await Promise.all(pictures.map((picture) => sharp(picture).metadata()))
  const pitch = sizes[0]!.height + 24
  const placed = pictures.map((input, i) => ({ input, left: 0, top: i * pitch }))
  const ground = {
    width: sizes[0]!.width,
    height: pitch * pictures.length - 24,
    channels: 4 as const,
    background: '#0000',
  }
  const picture = await sharp({ create: ground }).composite(placed).png().toBuffer()
  await sharp(picture)
    .png({ palette: true, quality: 90 })
    .toFile(join(SCREENSHOTS!, `player-${name}.png`))
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
    if (SCREENSHOTS) await leave(name, [await shoot(opened)])
    const painted = new Set<string>()
    const pictures: Buffer[] = []
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
      if (SCREENSHOTS) pictures.push(await shoot(opened))
    }
    if (SCREENSHOTS && name === 'compact') await leave('covers', pictures)
    expect(opened.problems).toEqual([])
    await opened.close()
  },
)

test.runIf(SCREENSHOTS)('pictures of the studio are saved', async () => {
  const shapes = { wide: { width: 1000, height: 700 }, phone: { width: 375, height: 760 } }
  for (const [name, viewport] of Object.entries(shapes)) {
    const isMobile = name === 'phone'
    const { page } = await openTab(workspace.browser, {
      viewport,
      isMobile,
      hasTouch: isMobile,
      reducedMotion: 'reduce',
    })
    await signIn(page, workspace.stack)
    await visit(page, `#/collection/${collection_id}`, 'Five covers')
    await untilStill(page)
    await rowOf(page, 'Paper Gardens').getByRole('button', { name: 'Play Paper Gardens' }).click()
    await untilPlaying(page.locator('.dock'), 9)
    await sharp(await page.screenshot())
      .png({ palette: true, quality: 90 })
      .toFile(join(SCREENSHOTS!, `studio-${name}.png`))
    await page.context().close()
  }
})

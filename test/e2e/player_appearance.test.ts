import { afterAll, beforeAll, expect, test } from 'vitest'

import { contrast } from '../../src/elements/shared/color.ts'
import { makeImage } from '../support/audio.ts'
import { randomColors } from '../support/random.ts'
import { findings } from './axe.ts'
import { copyTrack, SONG } from './library.ts'
import { button, openReady, position, setUp, type Workspace, TWO_TRACKS } from './player_setup.ts'
import { bytes, must, send, untilCovered } from './steps.ts'

/** Tests the player's appearance and accessibility. */

let workspace: Workspace
let play_session_id: string

beforeAll(async () => {
  workspace = await setUp()
  const album = await workspace.anAlbum(TWO_TRACKS)
  play_session_id = await workspace.aSession(album, { is_downloadable: true })
})
afterAll(() => workspace?.dispose())

const open = (...openArgs: [attributes?: Record<string, string>, options?: Parameters<Workspace['open']>[1]]) =>
  openReady(workspace, play_session_id, ...openArgs)

test('axe finds no violations in any theme or layout', async () => {
  const appearances: Record<string, string>[] = [
    { theme: 'light', download: '' },
    { theme: 'dark' },
    { layout: 'compact', theme: 'light' },
    { layout: 'cover', theme: 'light', download: '', share: '' },
  ]
  for (const attributes of appearances) {
    const opened = await open(attributes)
    await opened.call('play')
    await opened.untilTime(0.2)
    expect(await findings(opened.page)).toEqual([])
    await opened.close()
  }
})

/** Color pairs as Chromium paints them: foreground, background, and the minimum contrast of WCAG 2.2 (1.4.3, 1.4.11). */
function paintedPairs(accents: readonly string[]): [string, string, string, number][] {
  const player = document.querySelector('tonearm-player')!
  const root = player.shadowRoot!
  const style = (selector: string) => getComputedStyle(root.querySelector(selector)!)
  const canvas = root.querySelector('tonearm-waveform')!.shadowRoot!.querySelector('canvas')!
  return accents.flatMap((accent) => {
    player.setAttribute('accent', accent)
    const ground = style('.base').backgroundColor
    const row = style('[aria-current]').backgroundColor
    const play = style('.play-button')
    const { fill, stroke } = getComputedStyle(canvas)
    const pairs: [string, string, number][] = [
      [style('.title').color, ground, 4.5],
      [style('.subtitle').color, ground, 4.5],
      [style('.whole').color, ground, 4.5],
      [style('.speed').color, ground, 4.5],
      [style('.head').color, ground, 4.5],
      [style('[aria-current] .name').color, row, 4.5],
      [style('[aria-current] .length').color, row, 4.5],
      [style('.track:not([aria-current]) .number').color, ground, 4.5],
      [play.backgroundColor, ground, 3],
      [play.color, play.backgroundColor, 3],
      [style('.mute-button').color, ground, 3],
      [style('.shuffle-button').color, ground, 3],
      [style('.sleep-button').color, ground, 3],
      [fill, ground, 3],
      [stroke, ground, 3],
    ]
    return pairs.map(([ink, on, least]): [string, string, string, number] => [accent, ink, on, least])
  })
}
const hex = (rgb: string) =>
  `#${/^rgb\((\d+), (\d+), (\d+)\)$/
    .exec(rgb)!
    .slice(1)
    .map((value) => Number(value).toString(16).padStart(2, '0'))
    .join('')}`

test.each(['light', 'dark'])('the %s theme has the required contrast with 200 random player colors', async (theme) => {
  const opened = await open({ theme, shuffle: '' }, { reducedMotion: 'reduce' })
  const pairs = await opened.page.evaluate(paintedPairs, randomColors(200))
  expect(pairs).toHaveLength(200 * 15)
  expect(new Set(pairs.map(([, , ground]) => ground)).size).toBeGreaterThan(200)
  const poor = pairs.filter(([, ink, ground, least]) => contrast(hex(ink), hex(ground)) < least)
  expect(poor).toEqual([])
  await opened.close()
})

test('the player works in another language, in a right-to-left script, and without motion', async () => {
  const opened = await open({ locale: 'ar' }, { html: 'lang="ar" dir="rtl"', reducedMotion: 'reduce' })
  await button(opened, 'تشغيل').click()
  await opened.untilTime(0.3)
  const cover = (await opened.page.locator('tonearm-player [part=cover]').boundingBox())!
  const waveform = (await opened.page.locator('tonearm-waveform').boundingBox())!
  expect(cover.x).toBeGreaterThan(waveform.x)
  // A Latin title is truncated at its end, not at its start.
  const name = opened.page.locator('tonearm-player .name').first()
  expect(await name.evaluate((each) => [getComputedStyle(each).direction, getComputedStyle(each).textAlign])).toEqual([
    'ltr',
    'right',
  ])
  const moving = await opened.page.evaluate(
    () => document.querySelector('tonearm-player')!.shadowRoot!.getAnimations().length,
  )
  expect(moving).toBe(0)
  expect(await findings(opened.page)).toEqual([])
  await opened.page.locator('tonearm-player').evaluate((player) => Object.assign(player, { texts: { pause: 'قف' } }))
  await button(opened, 'قف').click()
  await opened.close()
})

test.each(['full', 'compact', 'cover'])('the %s layout fits a phone that is 375 pixels wide', async (layout) => {
  const viewport = { width: 375, height: 700 }
  const opened = await open({ layout, download: '' }, { viewport, hasTouch: true, isMobile: true })
  expect(await opened.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375)
  await button(opened, 'Play').tap()
  await opened.untilTime(0.3)
  const { width } = (await position(opened).boundingBox())!
  await position(opened).tap({ position: { x: width / 2, y: 10 } })
  await opened.untilTime(14)
  expect(await findings(opened.page)).toEqual([])
  await opened.close()
})

test('the player shows the cover and the color of a track', async () => {
  const { collection_id } = await must(workspace.server.post('/v1/collection', { body: { title: 'Colors' } }))
  const created = await copyTrack(workspace.stack, collection_id, 'Red.mp3', SONG)
  const { track_id } = created
  await send(created.track_cover_upload, bytes(await makeImage('png')), { 'content-type': 'image/png' })
  const body = { player_color: '#C8452C', player_title: '<b>Red</b>', player_subtitle: 'A subtitle' }
  await must(workspace.server.put('/v1/track/{track_id}', { params: { track_id }, body }))
  await untilCovered(workspace.server, track_id)
  const session = await workspace.aSession({ collection_id, track_ids: [] })
  const opened = await open({ 'play-session-id': session, theme: 'light' }, { reducedMotion: 'reduce' })
  await opened.page.getByText('<b>Red</b>').first().waitFor()
  const shown = await opened.page.evaluate(async () => {
    const root = document.querySelector('tonearm-player')!.shadowRoot!
    const image = root.querySelector('img')!
    await image.decode()
    return [getComputedStyle(root.querySelector('.play-button')!).backgroundColor, image.naturalWidth]
  })
  expect(shown).toEqual(['rgb(200, 69, 44)', 400])
  await opened.close()
})

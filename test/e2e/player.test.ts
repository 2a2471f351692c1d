import { afterAll, beforeAll, expect, test } from 'vitest'

import { makeAudio, makeImage, tone } from '../support/audio.ts'
import { seriousFindings } from './axe.ts'
import { type Album, type Opened, PATIENCE, setUp, type Stage } from './player_setup.ts'
import { bytes, must, send, settle, upload } from './steps.ts'

/** `<tonearm-player>` on a page of another origin with a strict policy, as a listener uses it. */

let stage: Stage
let album: Album
let play_session_id: string

beforeAll(async () => {
  stage = await setUp()
  album = await stage.anAlbum({
    First: { seconds: 30, expression: '0.5*sin(2*PI*330*t)*abs(sin(t/3))' },
    Second: { seconds: 4, expression: tone(440, -6) },
    Third: { seconds: 8, expression: tone(550, -6) },
  })
  play_session_id = await stage.aSession(album, { is_downloadable: true })
})
afterAll(() => stage?.dispose())

const open = async (attributes: Record<string, string> = {}, options?: Parameters<Stage['open']>[1]) => {
  const opened = await stage.open({ 'play-session-id': play_session_id, ...attributes }, options)
  await opened.until('ready')
  return opened
}
const button = ({ page }: Opened, name: string) => page.getByRole('button', { name, exact: true })
const position = ({ page }: Opened) => page.getByRole('slider', { name: 'Position' })
const names = async ({ events }: Opened) => (await events()).map(({ name }) => name)

test('plays, pauses, and asks nobody but the service', async () => {
  const opened = await open()
  expect(await opened.state()).toMatchObject({ title: 'First', paused: true, variant: 'aac-160' })
  expect((await opened.state()).duration).toBeCloseTo(30, 0)
  await button(opened, 'Play').click()
  await opened.untilTime(0.5)
  await button(opened, 'Pause').click()
  const { time, paused } = await opened.state()
  expect(paused).toBe(true)
  await button(opened, 'Play').click()
  await opened.untilTime(time + 0.3)
  const seen = (await names(opened)).filter((name) => name !== 'timeupdate')
  expect(seen.slice(0, 5)).toEqual(['trackchange', 'ready', 'play', 'pause', 'play'])
  expect((await opened.events('ready'))[0]?.detail).toMatchObject({ index: 0, track: { player_title: 'First' } })
  expect([...opened.hosts].toSorted()).toEqual([stage.host.origin, stage.stack.base_url].toSorted())
  expect(opened.problems).toEqual([])
  await opened.close()
})

test('a pointer seeks on the waveform, and shows the time beside it', async () => {
  const opened = await open()
  const { width } = (await position(opened).boundingBox())!
  await position(opened).hover({ position: { x: width / 3, y: 20 } })
  expect(await opened.page.locator('tonearm-waveform .time').textContent()).toBe('0:10')
  await position(opened).click({ position: { x: width / 2, y: 20 } })
  expect((await opened.state()).time).toBeCloseTo(15, 0)
  expect(await position(opened).getAttribute('aria-valuetext')).toBe('15 seconds of 30 seconds')
  await opened.call('play')
  await opened.untilTime(15.5)
  await opened.close()
})

test('the keyboard does everything: space, arrows, Home, End and M, wherever the focus is', async () => {
  const opened = await open()
  const { keyboard } = opened.page
  const time = async () => (await opened.state()).time
  await opened.page.locator('tonearm-player').getByText('First').first().click()
  await keyboard.press('ArrowRight')
  expect(await time()).toBeCloseTo(5, 1)
  await keyboard.press('End')
  expect(await time()).toBeGreaterThan(29)
  await keyboard.press('Home')
  expect(await time()).toBe(0)
  await position(opened).focus()
  await keyboard.press('PageUp')
  expect(await time()).toBeCloseTo(3, 1)
  await keyboard.press('m')
  expect(await button(opened, 'Unmute').count()).toBe(1)
  await keyboard.press('m')
  await keyboard.press(' ')
  await opened.untilTime(3.2)
  // On a button the space bar presses that button.
  await button(opened, 'Shuffle').focus()
  await keyboard.press(' ')
  expect(await button(opened, 'Shuffle').getAttribute('aria-pressed')).toBe('true')
  expect((await opened.state()).paused).toBe(false)
  await opened.close()
})

test('tracks are chosen in the list, by next and by previous', async () => {
  const opened = await open()
  await opened.page.getByRole('listitem').getByRole('button', { name: /Third/ }).click()
  await opened.untilTime(0.2)
  expect(await opened.state()).toMatchObject({ title: 'Third', paused: false })
  expect(await opened.page.locator('[aria-current=true]').textContent()).toContain('Third')
  expect(await button(opened, 'Next track').isDisabled()).toBe(true)
  await button(opened, 'Previous track').click()
  await opened.until('trackchange', 3)
  expect((await opened.state()).title).toBe('Second')
  await opened.call('next')
  expect((await opened.state()).title).toBe('Third')
  await opened.close()
})

test('an album goes on by itself, in an element that had the next file ready', async () => {
  const opened = await open({ track: '2', autoplay: '' })
  await opened.untilTime(1)
  const audio = () =>
    opened.page.evaluateHandle(() => document.querySelector('tonearm-player')!.shadowRoot!.querySelector('audio')!)
  const first = await audio()
  await opened.until('trackchange', 2)
  expect(await opened.state()).toMatchObject({ title: 'Third', paused: false })
  const second = await audio()
  // Another element takes over only when it has the file; else the first one would load it.
  expect(await opened.page.evaluate(([a, b]) => a === b, [first, second])).toBe(false)
  expect(await opened.page.locator('tonearm-player audio').count()).toBe(1)
  await opened.until('ended', 2)
  expect((await opened.events('ended')).map(({ detail }) => detail.last)).toEqual([false, true])
  expect((await opened.state()).paused).toBe(true)
  expect(opened.problems).toEqual([])
  // Once more from the beginning of what was played last.
  await opened.call('play')
  await opened.page.waitForFunction(() => document.querySelector('tonearm-player')!.currentTime < 3, null, PATIENCE)
  await opened.close()
})

test('attributes say where to begin, how fast, how loud, and in which variant', async () => {
  const opened = await open({ start: '0:12', rate: '1.5', volume: '0.4', variants: 'opus-96 mp3-128', loop: 'one' })
  const audio = () =>
    opened.page.evaluate(() => {
      const { volume, playbackRate, muted } = document
        .querySelector('tonearm-player')!
        .shadowRoot!.querySelector('audio')!
      return { volume, playbackRate, muted }
    })
  expect(await opened.state()).toMatchObject({ time: 12, variant: 'opus-96' })
  expect(await audio()).toEqual({ volume: 0.4, playbackRate: 1.5, muted: false })
  await opened.page.getByLabel('Speed').selectOption('2')
  await opened.page.getByRole('slider', { name: 'Volume' }).fill('0.7')
  expect(await audio()).toEqual({ volume: 0.7, playbackRate: 2, muted: false })
  await button(opened, 'Mute').click()
  // Another attribute's change leaves alone what the listener has chosen.
  await opened.page.locator('tonearm-player').evaluate((player) => player.setAttribute('shuffle', ''))
  expect(await audio()).toEqual({ volume: 0.7, playbackRate: 2, muted: true })
  await opened.close()
})

test('normalize plays a loud track softer, by what the analysis says', async () => {
  const key = { title: 'Web', type: 'player' as const, allowed_origins: [stage.host.origin] }
  const { secret } = await must(stage.server.post('/v1/api_key', { body: key }))
  const source = { 'api-key': secret, scope: 'track', 'resource-id': album.track_ids[1]! }
  const opened = await stage.open({ ...source, normalize: '' })
  await opened.until('ready')
  const volume = await opened.page.evaluate(
    () => document.querySelector('tonearm-player')!.shadowRoot!.querySelector('audio')!.volume,
  )
  const { track } = await must(stage.server.get('/v1/track/{track_id}', { params: { track_id: album.track_ids[1]! } }))
  const { integrated_lufs } = track.info.loudness as { integrated_lufs: number }
  expect(integrated_lufs).toBeGreaterThan(-15)
  expect(20 * Math.log10(volume)).toBeCloseTo(-18 - integrated_lufs, 1)
  expect(opened.problems).toEqual([])
  await opened.close()
})

test('a download is offered when both the page and the session allow it', async () => {
  const opened = await open({ download: 'mp3-128' })
  const sent = opened.page.waitForRequest(/mp3-128\.mp3\?.*response-content-disposition=attachment/, PATIENCE)
  await button(opened, 'Download').click()
  await sent
  await opened.close()
  for (const [session, attribute] of [
    [play_session_id, {}],
    [await stage.aSession(album), { download: '' }],
  ] as const) {
    const without = await open({ 'play-session-id': session, ...attribute })
    expect(await button(without, 'Download').count()).toBe(0)
    await without.close()
  }
})

test('the lock screen shows the track and moves it', async () => {
  const opened = await open()
  await opened.page.evaluate(() => {
    const handlers: Record<string, unknown> = {}
    Object.assign(window, { handlers })
    const set = navigator.mediaSession.setActionHandler.bind(navigator.mediaSession)
    navigator.mediaSession.setActionHandler = (name, handler) => {
      handlers[name] = handler
      set(name, handler)
    }
  })
  await opened.call('play')
  await opened.untilTime(0.3)
  const shown = await opened.page.evaluate(() => {
    const { metadata, playbackState } = navigator.mediaSession
    return { title: metadata?.title, artwork: metadata?.artwork.map(({ sizes }) => sizes), playbackState }
  })
  expect(shown).toEqual({ title: 'First', artwork: ['80x80', '200x200', '400x400'], playbackState: 'playing' })
  const press = (name: string, details: object = {}) =>
    opened.page.evaluate(
      ([action, given]) =>
        (window as unknown as { handlers: Record<string, (details: object) => void> }).handlers[action]!(given),
      [name, details] as const,
    )
  await press('seekto', { seekTime: 20 })
  await opened.untilTime(19.9)
  await press('nexttrack')
  expect((await opened.state()).title).toBe('Second')
  await press('pause')
  expect((await opened.state()).paused).toBe(true)
  await opened.close()
})

test('a track that is being processed plays as soon as it is ready', async () => {
  const { collection_id } = await must(stage.server.post('/v1/collection', { body: { title: 'New' } }))
  const created = await must(stage.server.post('/v1/track', { body: { collection_id, file_name: 'New.wav' } }))
  const session = await stage.aSession({ collection_id, track_ids: [] })
  const opened = await stage.open({ 'play-session-id': session, autoplay: '' })
  await opened.page.getByRole('status').getByText('still being processed').waitFor(PATIENCE)
  await send(created.track_upload, bytes(await makeAudio('wav', { seconds: 6 })))
  await settle(stage.server, created.track_id)
  await opened.until('ready')
  await opened.untilTime(0.3)
  expect(await opened.page.getByRole('status').count()).toBe(0)
  expect(opened.problems).toEqual([])
  await opened.close()
})

test('a preliminary file is replaced by the final one while it plays', async () => {
  const opened = await stage.open({})
  let isFinal = false
  // The service of now makes no preliminary files: its answers are changed on their way into those of one that does.
  await opened.page.route('**/v1/play/**', async (route) => {
    const response = await route.fetch()
    const answer = await response.json()
    const view = answer.first_track ?? answer
    if (!isFinal && view.variants) {
      const [mp3] = view.variants.filter((v: { variant: { index: string } }) => v.variant.index === 'mp3-128')
      view.variants = [{ ...mp3, variant: { index: 'early' } }]
      view.track.is_preliminary = true
    }
    await route.fulfill({ response, json: answer })
  })
  await opened.page.locator('tonearm-player').evaluate((player, id) => {
    player.setAttribute('autoplay', '')
    player.setAttribute('play-session-id', id)
  }, play_session_id)
  await opened.untilTime(1)
  expect((await opened.state()).variant).toBe('early')
  isFinal = true
  await opened.page.waitForFunction(
    () => document.querySelector<HTMLElement & { variant: string }>('tonearm-player')?.variant === 'aac-160',
    null,
    PATIENCE,
  )
  const { time, paused } = await opened.state()
  expect(paused).toBe(false)
  await opened.untilTime(time + 0.5)
  expect((await opened.events()).filter(({ name }) => name === 'pause' || name === 'trackchange')).toHaveLength(1)
  const times = (await opened.events('timeupdate')).map(({ detail }) => detail.current_time as number)
  const steps = times.slice(1).map((value, i) => value - times[i]!)
  expect(Math.min(...steps)).toBeGreaterThan(-0.3)
  await opened.close()
})

test('nothing serious is wrong for people who see, hear or move otherwise', async () => {
  const looks: Record<string, string>[] = [
    { theme: 'light', download: '' },
    { theme: 'dark' },
    { layout: 'compact', theme: 'light' },
  ]
  for (const attributes of looks) {
    const opened = await open(attributes)
    await opened.call('play')
    await opened.untilTime(0.2)
    expect(await seriousFindings(opened.page)).toEqual([])
    await opened.close()
  }
})

test('other languages, right to left, without motion', async () => {
  const opened = await open({ locale: 'ar' }, { html: 'lang="ar" dir="rtl"', reducedMotion: 'reduce' })
  await button(opened, 'تشغيل').click()
  await opened.untilTime(0.3)
  const cover = (await opened.page.locator('tonearm-player [part=cover]').boundingBox())!
  const waveform = (await opened.page.locator('tonearm-waveform').boundingBox())!
  expect(cover.x).toBeGreaterThan(waveform.x)
  const moving = await opened.page.evaluate(
    () => document.querySelector('tonearm-player')!.shadowRoot!.getAnimations().length,
  )
  expect(moving).toBe(0)
  expect(await seriousFindings(opened.page)).toEqual([])
  await opened.page.locator('tonearm-player').evaluate((player) => Object.assign(player, { strings: { pause: 'قف' } }))
  await button(opened, 'قف').click()
  await opened.close()
})

test.each(['full', 'compact'])('fits a phone of 375 pixels, %s', async (layout) => {
  const viewport = { width: 375, height: 700 }
  const opened = await open({ layout, download: '' }, { viewport, hasTouch: true, isMobile: true })
  expect(await opened.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375)
  await button(opened, 'Play').tap()
  await opened.untilTime(0.3)
  const { width } = (await position(opened).boundingBox())!
  await position(opened).tap({ position: { x: width / 2, y: 10 } })
  await opened.untilTime(14)
  expect(await seriousFindings(opened.page)).toEqual([])
  await opened.close()
})

test('cover and color of a track are shown', async () => {
  const { collection_id } = await must(stage.server.post('/v1/collection', { body: { title: 'Colors' } }))
  const created = await upload(stage.server, collection_id, 'Red.mp3', await makeAudio('mp3', { seconds: 3 }))
  const { track_id } = created
  await send(created.track_cover_upload, bytes(await makeImage('png')), { 'content-type': 'image/png' })
  const body = { player_color: '#C8452C', player_title: '<b>Red</b>', player_subtitle: 'A subtitle' }
  await must(stage.server.put('/v1/track/{track_id}', { params: { track_id }, body }))
  await settle(stage.server, track_id)
  const opened = await open({
    'play-session-id': await stage.aSession({ collection_id, track_ids: [] }),
    theme: 'light',
  })
  await opened.page.getByText('<b>Red</b>').first().waitFor()
  const looks = await opened.page.evaluate(async () => {
    const root = document.querySelector('tonearm-player')!.shadowRoot!
    const image = root.querySelector('img')!
    await image.decode()
    return [getComputedStyle(root.querySelector('.play-button')!).backgroundColor, image.naturalWidth]
  })
  expect(looks).toEqual(['rgb(200, 69, 44)', 400])
  await opened.close()
})

test('a session that is not there is an error with a code, and says so', async () => {
  const opened = await stage.open({ 'play-session-id': '000aaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa' })
  await opened.until('error')
  expect((await opened.events('error'))[0]?.detail).toMatchObject({ code: 'not_found' })
  await opened.page.getByRole('status').getByText('cannot be played').waitFor()
  expect(await button(opened, 'Try again').count()).toBe(1)
  await opened.close()
})

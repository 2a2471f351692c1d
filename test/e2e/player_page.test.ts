import { afterAll, beforeAll, expect, test } from 'vitest'

import { signPlaySession } from '../../src/client/sign.ts'
import type { TonearmPlayer } from '../../src/elements/player/index.ts'
import { tone } from '../support/audio.ts'
import { type Album, names, type Opened, openReady, PATIENCE, setUpAlbum, type Workspace } from './player_setup.ts'
import { must } from './steps.ts'

/** The player on a page with several players, in a shadow tree, and when it is moved or removed; and a page with another player. */

let stage: Workspace
let album: Album
let play_session_id: string

beforeAll(async () => {
  ;({
    workspace: stage,
    album,
    play_session_id,
  } = await setUpAlbum({
    First: { seconds: 12, expression: tone(330, -12) },
    Second: { seconds: 4, expression: tone(440, -12) },
  }))
})
afterAll(() => stage?.dispose())

const open = (attributes: Record<string, string> = {}) => openReady(stage, play_session_id, attributes)

/** Adds another player to the page, in a shadow tree if a mode is given, and waits until it can play. */
const another = ({ page }: Opened, attributes: Record<string, string>, mode: ShadowRootMode | null = null) =>
  page.evaluateHandle(
    async ([attributes, tree]) => {
      const player = document.createElement('tonearm-player')
      for (const [name, value] of Object.entries(attributes)) player.setAttribute(name, value)
      const ready = new Promise((resolve) => player.addEventListener('tonearm-ready', resolve, { once: true }))
      const place = document.querySelector('main')!.appendChild(document.createElement('div'))
      const root = tree ? place.attachShadow({ mode: tree }) : place
      root.append(player)
      await ready
      return player
    },
    [{ 'play-session-id': play_session_id, ...attributes }, mode] as const,
  )

/** Whether the player and its audio element are paused. */
const pausedOf = (player: TonearmPlayer) => [player.paused, player.shadowRoot!.querySelector('audio')!.paused]
const isPlaying = (player: TonearmPlayer) => player.currentTime > 0.2

test('a session that was signed without the service plays, and then the next track', async () => {
  const key = { title: 'App', type: 'signing' as const, collection_id: album.collection_id }
  const { secret } = await must(stage.server.post('/v1/api_key', { body: key }))
  const token = await signPlaySession(secret, { scope: 'collection', id: album.collection_id })
  const opened = await openReady(stage, token)
  await opened.call('play')
  await opened.untilTime(0.5)
  await opened.call('next')
  await opened.until('trackchange')
  await opened.untilTime(0.3)
  expect(await opened.state()).toMatchObject({ paused: false, title: 'Second' })
  expect(opened.problems).toEqual([])
  await opened.close()
})

test.each(['open', 'closed'] as const)('a player plays and pauses in a shadow tree that is %s', async (mode) => {
  const opened = await open()
  const player = await another(opened, {}, mode)
  await player.evaluate((element) => element.play())
  await opened.page.waitForFunction(isPlaying, player, PATIENCE)
  expect(await player.evaluate(pausedOf)).toEqual([false, false])
  await player.evaluate((element) => element.pause())
  expect(await player.evaluate(pausedOf)).toEqual([true, true])
  await opened.close()
})

test('only one player plays at a time and controls the lock screen', async () => {
  const opened = await open({ track: '2' })
  const other = await another(opened, { track: '1' })
  const first = await opened.page.evaluateHandle(() => document.querySelector('tonearm-player')!)
  const lockScreen = () =>
    opened.page.evaluate(() => {
      const { metadata, playbackState } = navigator.mediaSession
      return [metadata?.title, playbackState]
    })
  await first.evaluate((element) => element.play())
  await opened.page.waitForFunction(isPlaying, first, PATIENCE)
  await expect.poll(lockScreen, PATIENCE).toEqual(['Second', 'playing'])
  await other.evaluate((element) => element.play())
  await opened.page.waitForFunction(isPlaying, other, PATIENCE)
  expect([await first.evaluate(pausedOf), await other.evaluate(pausedOf)]).toEqual([
    [true, true],
    [false, false],
  ])
  await expect.poll(lockScreen, PATIENCE).toEqual(['First', 'playing'])
  // Changing or removing the paused player does not affect the playing one.
  await first.evaluate((element) => element.setAttribute('theme', 'dark'))
  expect(await lockScreen()).toEqual(['First', 'playing'])
  await first.evaluate((element) => element.remove())
  expect(await lockScreen()).toEqual(['First', 'playing'])
  await other.evaluate((element) => element.remove())
  await expect.poll(lockScreen, PATIENCE).toEqual([undefined, 'none'])
  await opened.close()
})

test('a player that gets its session late still plays automatically after another one has played', async () => {
  const opened = await open()
  const later = await opened.page.evaluateHandle(() => {
    const player = document.createElement('tonearm-player')
    player.setAttribute('autoplay', '')
    return document.querySelector('main')!.appendChild(player)
  })
  await opened.call('play')
  await opened.untilTime(0.2)
  await later.evaluate((player, id) => player.setAttribute('play-session-id', id), play_session_id)
  await opened.until('ready', 2)
  expect(await later.evaluate((player) => player.paused)).toBe(false)
  expect((await opened.state()).paused).toBe(true)
  await opened.close()
})

test('a player that is removed while loading never plays', async () => {
  const opened = await open()
  const session = await stage.aSession(album, { variants: ['aac-160', 'analysis'] })
  await opened.page.route('**/analysis.json?**', () => {})
  const requested = opened.page.waitForRequest('**/analysis.json?**', PATIENCE)
  const { page } = opened
  // The clock is paused so that the timeout for the analysis expires after the removal.
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 60_000)
  const gone = await page.evaluateHandle((id) => {
    const player = document.createElement('tonearm-player')
    for (const [name, value] of Object.entries({ 'play-session-id': id, normalize: '', autoplay: '' }))
      player.setAttribute(name, value)
    document.querySelector('main')!.append(player)
    const seen: string[] = []
    player.addEventListener('tonearm-ready', () => seen.push('ready'))
    return { player, seen, audio: null as HTMLAudioElement | null }
  }, session)
  await requested
  const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/analysis.json'))
  await gone.evaluate((held) => {
    held.audio = held.player.shadowRoot!.querySelector('audio')!
    held.player.remove()
  })
  await ended
  await page.clock.runFor(1000)
  await page.clock.resume()
  // Loading another player takes longer than any late effect of the removed one would take.
  await another(opened, {})
  expect(
    await gone.evaluate(({ audio, seen }) => ({ seen, paused: audio!.paused, loaded: audio!.hasAttribute('src') })),
  ).toEqual({ seen: [], paused: true, loaded: false })
  await opened.close()
})

test('a player that is moved within the page continues to play', async () => {
  const opened = await open()
  let sessions = 0
  opened.page.on('request', (request) => {
    if (/\/v1\/play\/[^/]+$/.test(request.url())) sessions++
  })
  await opened.call('play')
  await opened.untilTime(1)
  await opened.page.evaluate(() => {
    const player = document.querySelector('tonearm-player')!
    document.body.prepend(document.createElement('section'))
    document.querySelector('section')!.append(player)
  })
  const { time } = await opened.state()
  expect(time).toBeGreaterThan(0.9)
  await opened.untilTime(time + 0.5)
  expect(await opened.page.evaluate(() => document.querySelector('tonearm-player')!.paused)).toBe(false)
  expect((await names(opened)).filter((name) => name !== 'sessionrefresh')).toEqual(['trackchange', 'ready', 'play'])
  expect(sessions).toBe(0)
  await opened.close()
})

test('a removed player stops loading in both of its audio elements', async () => {
  // The next track is preloaded within the last 20 seconds of a track.
  const opened = await open()
  const { page } = opened
  const elements = await page.evaluateHandle(() => {
    const load = Reflect.get(HTMLMediaElement.prototype, 'load')
    const all = new Set<HTMLMediaElement>([
      document.querySelector('tonearm-player')!.shadowRoot!.querySelector('audio')!,
    ])
    HTMLMediaElement.prototype.load = function () {
      all.add(this)
      load.call(this)
    }
    return all
  })
  await opened.call('play')
  await opened.untilTime(0.5)
  const sources = () => elements.evaluate((all) => [...all].filter((audio) => audio.hasAttribute('src')).length)
  await expect.poll(sources, PATIENCE).toBe(2)
  await page.evaluate(() => document.querySelector('tonearm-player')!.remove())
  await expect.poll(sources, PATIENCE).toBe(0)
  await opened.close()
})

test('properties set before the element is defined take effect', async () => {
  const opened = await open()
  const made = await opened.page.evaluate(async (id) => {
    // An element that was created in a document without a window is upgraded when a document with a window adopts it.
    const elsewhere = document.implementation.createHTMLDocument()
    const player = Object.assign(elsewhere.createElement('tonearm-player'), {
      volume: 0.3,
      currentTime: 5,
      texts: { play: 'Los' },
    })
    player.setAttribute('play-session-id', id)
    const ready = new Promise((resolve) => player.addEventListener('tonearm-ready', resolve, { once: true }))
    document.querySelector('main')!.append(player)
    await ready
    const { volume } = player.shadowRoot!.querySelector('audio')!
    return [volume, player.currentTime, player.shadowRoot!.querySelector('.play-button')!.getAttribute('aria-label')]
  }, play_session_id)
  expect(made).toEqual([0.3, 5, 'Los'])
  await opened.close()
})

test('another player on another site reads the chapters as a `<track>`', async () => {
  const track_id = album.track_ids[0]!
  const body = { chapters: [{ startTime: 0, title: 'One --> <b>two</b> & three' }, { startTime: 4 }] }
  await must(stage.server.put('/v1/track/{track_id}/chapters', { params: { track_id }, body }))
  const params = { play_session_id, play_track_id: track_id }
  const view = await must(stage.server.get('/v1/play/{play_session_id}/{play_track_id}', { params }))
  stage.host.show('<!doctype html><title>Chapters</title><audio crossorigin></audio>')
  const page = await stage.browser.newPage()
  await page.goto(stage.host.origin)
  const cues = await page.evaluate(
    async ([sound, chapters]) => {
      const audio = document.querySelector('audio')!
      audio.src = sound
      const element = Object.assign(document.createElement('track'), { kind: 'chapters', src: chapters })
      const loaded = new Promise((resolve, reject) => Object.assign(element, { onload: resolve, onerror: reject }))
      audio.append(element)
      element.track.mode = 'hidden'
      await loaded
      const found = [...element.track.cues!] as VTTCue[]
      return found.map((cue) => [cue.startTime, cue.endTime, cue.getCueAsHTML().textContent])
    },
    [view.variants[0]!.url, view.chapter_files!.vtt] as const,
  )
  expect(cues).toEqual([
    [0, 4, body.chapters[0]!.title],
    [4, 12, '0:04'],
  ])
  await page.close()
})

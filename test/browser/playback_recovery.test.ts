import { beforeEach, describe, expect, test, vi } from 'vitest'

import type { PlaybackOptions } from '../../src/client/playback/state.ts'
import { FakeAudio } from './fake_audio.ts'
import {
  audio,
  create,
  events,
  given,
  names,
  open,
  openPlaying,
  playback,
  requests,
  service,
  settle,
  views,
} from './playback_setup.ts'

/** What the engine of the player outlives: URLs, files, sessions, connections. */

describe('loudness', () => {
  beforeEach(() => void (service.analysis = Promise.resolve({ integrated_lufs: -8, true_peak_dbtp: 0 })))
  const softer = 10 ** (-10 / 20)
  function change(options: Partial<PlaybackOptions>) {
    Object.assign(given, options)
    playback.changeOptions(options)
  }

  test('is that of the analysis when it is asked for, also while it plays', async () => {
    await openPlaying({ options: { normalize: true, volume: 0.5 } })
    expect(audio().volume).toBeCloseTo(softer / 2)
    change({ volume: 1 })
    expect(audio().volume).toBeCloseTo(softer)
    change({ normalize: false })
    await settle()
    expect(audio().volume).toBe(1)
  })
  test('is waited for, but not long', async () => {
    const { promise, resolve } = Promise.withResolvers<object>()
    service.analysis = promise
    create({ options: { normalize: true } })
    const opening = playback.open()
    await vi.advanceTimersByTimeAsync(700)
    expect(playback.state.status).toBe('loading')
    await vi.advanceTimersByTimeAsync(100)
    await opening
    expect([playback.state.status, audio().volume]).toEqual(['ready', 1])
    resolve({})
  })
  test('that is taken back at once leaves nothing behind', async () => {
    await openPlaying()
    const { promise, resolve } = Promise.withResolvers<object>()
    service.analysis = promise
    change({ normalize: true })
    change({ normalize: false })
    resolve({ integrated_lufs: -8, true_peak_dbtp: 0 })
    await settle()
    expect(audio().volume).toBe(1)
  })
})

describe('a URL that ends', () => {
  test('is replaced before, by the other element, at the same moment', async () => {
    service.ttl = 100
    await openPlaying()
    FakeAudio.seconds = 1000
    audio().loadedTo = 20
    const [before, url] = [playback.audio, playback.state.loaded!.url]
    await vi.advanceTimersByTimeAsync(48_000)
    expect(views('one')).toBe(1)
    await vi.advanceTimersByTimeAsync(2000)
    expect(playback.audio).not.toBe(before)
    expect(playback.state.loaded!.url).not.toBe(url)
    expect(names()).toEqual(['sessionrefresh'])
    expect(events[0]?.detail).toMatchObject({ renewed: false, playSessionId: 'first' })
  })
  test('is left alone while it is paused, and replaced when it is to play on', async () => {
    service.ttl = 100
    await openPlaying()
    audio().loadedTo = 20
    playback.pause()
    await vi.advanceTimersByTimeAsync(600_000)
    expect(requests).toEqual([])
    await playback.seek(80)
    await settle()
    expect([views('one'), playback.time, audio().paused]).toEqual([1, 80, true])
  })
  test('403 in the middle of a file: a fresh one, at the same place, once', async () => {
    await openPlaying()
    audio().advance(40)
    const { url } = playback.state.loaded!
    FakeAudio.refused = [url]
    audio().fail()
    await settle()
    expect(playback.state).toMatchObject({ status: 'ready', playing: true })
    expect([playback.time, playback.state.loaded!.url === url, views('one')]).toEqual([41, false, 1])
    expect(names()).toEqual(['sessionrefresh'])
  })
  test('what fails twice in one place gives way to the next file, then to a failure', async () => {
    await openPlaying()
    FakeAudio.refused = ['/aac-160']
    audio().fail()
    await settle()
    expect(playback.state.loaded).toMatchObject({ variant: 'mp3-128' })
    FakeAudio.refused = ['/aac-160', '/mp3-128']
    audio().fail()
    await settle()
    expect(playback.state).toMatchObject({ status: 'failed', code: 'no_playable_variant', playing: false })
    FakeAudio.refused = []
    await playback.retry()
    expect(playback.state).toMatchObject({ status: 'ready' })
    expect(playback.state.loaded).toMatchObject({ variant: 'aac-160' })
  })
})

describe('a session that ends', () => {
  const gone = { status: 410, code: 'session_expired' }

  test('is told once, and waits for another one', async () => {
    await openPlaying()
    service.refusals = { two: gone, three: gone }
    await playback.next()
    await playback.select(2)
    await settle()
    expect(playback.state).toMatchObject({ status: 'expired', playing: true })
    expect(names().filter((name) => name === 'sessionexpired')).toHaveLength(1)
    expect(names()).not.toContain('error')
    // Whoever presses play once more is told once more.
    await playback.play()
    expect(names().filter((name) => name === 'sessionexpired')).toHaveLength(2)
  })
  test('is renewed with a key, and nobody hears it', async () => {
    await openPlaying({ apiKey: 'k' })
    const { fetch } = globalThis
    vi.stubGlobal('fetch', (url: string, init: RequestInit) =>
      url.includes('/play/first/')
        ? Promise.resolve(Response.json({ ok: false, message: 'Over', code: 'session_expired' }, { status: 410 }))
        : fetch(url, init),
    )
    await playback.next()
    await settle()
    expect(playback.state).toMatchObject({ status: 'ready', index: 1, playing: true })
    expect(events.find(({ name }) => name === 'sessionrefresh')?.detail).toMatchObject({
      renewed: true,
      playSessionId: 'renewed',
    })
    expect(names()).not.toContain('sessionexpired')
  })
})

describe('a session of a minute that plays', () => {
  /** The other element takes over as the first one goes on. */
  async function playFor(seconds: number) {
    for (let i = 0; i < seconds * 2; i++) {
      audio().loadedTo = playback.time + 20
      audio().advance(0.5)
      await vi.advanceTimersByTimeAsync(500)
    }
  }
  beforeEach(() => {
    FakeAudio.seconds = 1000
    service.endsAt = Date.now() + 60_000
  })

  test('is renewed with a key before its end', async () => {
    await openPlaying({ apiKey: 'k' })
    await playFor(58)
    expect(events.find(({ name, detail }) => name === 'sessionrefresh' && detail.renewed)).toBeDefined()
    expect(playback.state).toMatchObject({ status: 'ready', playing: true })
    await playFor(30)
    expect(playback.state.loaded!.url).toContain('/renewed/')
    expect(names().every((name) => name === 'sessionrefresh')).toBe(true)
  })
  test('tells of its end also where the other element never takes over', async () => {
    await openPlaying()
    FakeAudio.refused = ['r2']
    await playFor(75)
    expect(names().filter((name) => name === 'sessionexpired')).toHaveLength(1)
    expect(playback.state).toMatchObject({ status: 'ready', playing: true })
  })
  test('tells of its end without one, and plays on what it has', async () => {
    await openPlaying()
    await playFor(58)
    expect(names()).not.toContain('sessionexpired')
    await playFor(20)
    expect(names().filter((name) => name === 'sessionexpired')).toHaveLength(1)
    expect(playback.state).toMatchObject({ status: 'ready', playing: true })
  })
})

describe('a 404', () => {
  test('of a session that is long gone: renewed with a key, else its end', async () => {
    await openPlaying({ apiKey: 'k' })
    service.refusals = { first: { status: 404, code: 'not_found' } }
    await playback.next()
    await settle()
    expect(playback.state).toMatchObject({ status: 'ready', index: 1 })
    playback.close()
    service.refusals = {}
    await openPlaying()
    service.refusals = { first: { status: 404, code: 'not_found' } }
    await playback.next()
    expect(playback.state.status).toBe('expired')
    expect(names()).not.toContain('error')
  })
  test('of a track in a session that lives is that track’s own', async () => {
    await openPlaying({ apiKey: 'k' })
    service.refusals = { two: { status: 404, code: 'not_found' } }
    audio().advance(100)
    await settle()
    expect(playback.state).toMatchObject({ index: 2, playing: true })
    expect(events.filter(({ name, detail }) => name === 'sessionexpired' || detail.renewed)).toEqual([])
  })
})

describe('trouble', () => {
  test('a lost connection is asked about again and plays on where it was, however long', async () => {
    await openPlaying()
    audio().advance(30)
    service.refusals = { all: 'away' }
    audio().fail()
    await vi.advanceTimersByTimeAsync(200_000)
    expect(playback.state).toMatchObject({ status: 'offline', playing: true })
    expect(names()).toEqual([])
    service.refusals = {}
    await vi.advanceTimersByTimeAsync(40_000)
    expect(playback.state).toMatchObject({ status: 'ready', playing: true })
    expect([playback.time, audio().paused]).toEqual([31, false])
  })
  test('what could not be answered is not asked again once the listener is somewhere else', async () => {
    await openPlaying()
    service.refusals = { one: { status: 503, code: 'internal' } }
    audio().fail()
    await vi.advanceTimersByTimeAsync(5000)
    expect(playback.state.status).toBe('offline')
    await playback.next()
    requests.length = 0
    await vi.advanceTimersByTimeAsync(60_000)
    expect(views('one')).toBe(0)
  })
  test('sound that stalls for long is asked for anew, unless anything comes', async () => {
    await openPlaying()
    audio().loadedTo = 20
    audio().stall()
    await vi.advanceTimersByTimeAsync(10_000)
    audio().loadedTo = 21
    await vi.advanceTimersByTimeAsync(10_000)
    expect(requests).toEqual([])
    await vi.advanceTimersByTimeAsync(10_000)
    expect([views('one'), playback.time, playback.state.attempts.failures]).toEqual([1, 1, 0])
  })
  test('a track that is being processed plays as soon as it is ready', async () => {
    service.refusals = { one: { status: 409, code: 'track_not_ready' } }
    await open({ start: { play: true } })
    expect(playback.state.status).toBe('processing')
    service.refusals = {}
    await vi.advanceTimersByTimeAsync(2000)
    expect([playback.state.status, audio().paused]).toEqual(['ready', false])
  })
  test('a preliminary file gives way to the final one, at the same place', async () => {
    service.preliminary = true
    await openPlaying()
    expect(playback.state.loaded?.variant).toBe('early')
    await vi.advanceTimersByTimeAsync(10_000)
    expect(playback.state.loaded?.variant).toBe('early')
    service.preliminary = false
    await vi.advanceTimersByTimeAsync(20_000)
    expect(playback.state.loaded?.variant).toBe('aac-160')
    // Where the other element took over: a second and a half ahead of where the first one stood.
    expect([playback.time, audio().paused]).toEqual([1, false])
    expect(names().every((name) => name === 'sessionrefresh')).toBe(true)
  })
})

import { describe, expect, test, vi } from 'vitest'

import { FakeAudio } from './fake_audio.ts'
import {
  audio,
  events,
  names,
  open,
  openPlaying,
  playback,
  requests,
  service,
  settle,
  views,
} from './playback_setup.ts'

/** What the engine of the player outlives: URLs, files, connections. */

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
  test('is not needed for a file that is here to its end', async () => {
    service.ttl = 100
    await openPlaying()
    playback.pause()
    await vi.advanceTimersByTimeAsync(600_000)
    await playback.play()
    expect([requests, audio().paused]).toEqual([[], false])
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

test('a failure leaves a paused player that can be started again', async () => {
  await openPlaying()
  service.refusals = { two: { status: 404, code: 'not_found' } }
  await playback.next()
  expect(playback.state).toMatchObject({ index: 1, status: 'failed', playing: false, loaded: null, view: null })
  expect([names(), playback.paused, audio().paused]).toEqual([['trackchange', 'pause', 'error'], true, true])
  service.refusals = {}
  await playback.play()
  await settle()
  expect([playback.state.status, playback.paused, audio().paused]).toEqual(['ready', false, false])
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

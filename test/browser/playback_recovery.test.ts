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

/** Failures that the engine recovers from: URLs, files, connections. */

describe('an expiring URL', () => {
  test('is replaced in time by the other element at the same position', async () => {
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
  test('is kept while playback is paused, and replaced before playback resumes', async () => {
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
  test('does not matter for a file that is completely loaded', async () => {
    service.ttl = 100
    await openPlaying()
    playback.pause()
    await vi.advanceTimersByTimeAsync(600_000)
    await playback.play()
    expect([requests, audio().paused]).toEqual([[], false])
  })
  test('is replaced once by a fresh URL, at the same position, after a 403 mid-file', async () => {
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
  test('is replaced by that of the next file after two failures at one position; if no file is left, the track fails', async () => {
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
  service.views = 1
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

describe('the engine', () => {
  test('retries a lost connection and resumes at the same position, however long the outage lasts', async () => {
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
  test('stops retrying a track after the listener has selected another one', async () => {
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
  test('requests a new URL after a long stall unless data arrives', async () => {
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
  test('plays a track as soon as its processing ends', async () => {
    service.refusals = { one: { status: 409, code: 'track_not_ready' } }
    await open({ start: { play: true } })
    expect(playback.state.status).toBe('processing')
    service.refusals = {}
    await vi.advanceTimersByTimeAsync(2000)
    expect([playback.state.status, audio().paused]).toEqual(['ready', false])
  })
  test('replaces a preliminary file with the final one at the same position', async () => {
    service.preliminary = true
    await openPlaying()
    expect(playback.state.loaded?.variant).toBe('early')
    await vi.advanceTimersByTimeAsync(10_000)
    expect(playback.state.loaded?.variant).toBe('early')
    service.preliminary = false
    await vi.advanceTimersByTimeAsync(20_000)
    expect(playback.state.loaded?.variant).toBe('aac-160')
    // Playback continues at the position at which the other element took over.
    expect([playback.time, audio().paused]).toEqual([1, false])
    expect(names().every((name) => name === 'sessionrefresh')).toBe(true)
  })
})

import { describe, expect, test, vi } from 'vitest'

import type { Session } from '../../src/client/playback/state.ts'
import { FakeAudio } from './fake_audio.ts'
import { audio, open, openPlaying, playback, requests, service, session, settle } from './playback_setup.ts'

/** The play views that the engine reads several at a time (docs/decisions/0086). */

const ALBUM = Array.from({ length: 10 }, (_, at) => `t${at + 1}`)
const AT_ONCE = 'GET /v1/play/first?views=5'

/** Plays all tracks to the end. */
async function playToEnd() {
  await playback.play()
  for (let at = 0; at < service.tracks.length; at++) {
    audio().advance(81)
    await settle()
    audio().advance(19)
    await settle()
  }
  expect(playback.state).toMatchObject({ playing: false, status: 'ready' })
}

describe('an album of ten tracks', () => {
  test('is played to its end with two requests', async () => {
    service.tracks = ALBUM
    await open()
    await playToEnd()
    expect(requests).toEqual([AT_ONCE, `${AT_ONCE}&from=t6`])
  })
  test('is played to its end with two requests if the page has the session without views', async () => {
    service.tracks = ALBUM
    await open({ session: session('first') as unknown as Session })
    await playToEnd()
    expect(requests).toEqual([`${AT_ONCE}&from=t2`, `${AT_ONCE}&from=t7`])
  })
  test('is played to its end with two requests if the browser allows only one media element to play', async () => {
    service.tracks = ALBUM
    FakeAudio.gestureOnly = true
    await open()
    await playToEnd()
    expect(requests).toHaveLength(2)
  })
  test('is read track by track while it is shuffled, except for the first five', async () => {
    service.tracks = ALBUM
    await open({ options: { shuffle: true } })
    await playToEnd()
    const others = requests.slice(1)
    expect(others.length).toBe(5)
    expect(others.every((request) => /^GET \/v1\/play\/first\/t(6|7|8|9|10)$/.test(request))).toBe(true)
  })
})

describe('play views that were read ahead', () => {
  test('are read once, although two tracks need them at the same time', async () => {
    service.views = 1
    await openPlaying()
    service.views = 5
    const selected = playback.next()
    // The track that is selected next is in the response that has not arrived yet.
    await Promise.all([selected, playback.next()])
    await settle()
    expect(requests).toEqual([`${AT_ONCE}&from=two`])
    expect(playback.state).toMatchObject({ index: 2, status: 'ready' })
  })
  test('are read again one by one after they have expired', async () => {
    await openPlaying()
    playback.pause()
    const { until } = playback.state.loaded!
    await vi.advanceTimersByTimeAsync(until - Date.now())
    await playback.next()
    expect(requests).toEqual(['GET /v1/play/first/two'])
  })
  test('of a track that is still being processed are not used later', async () => {
    service.preliminary = true
    await openPlaying()
    service.preliminary = false
    await playback.next()
    expect(requests).toEqual([`${AT_ONCE}&from=two`])
    expect(playback.state.loaded).toMatchObject({ trackId: 'two', variant: 'aac-160' })
  })
  test('of a track that was deleted since are skipped, unless the listener selects the track', async () => {
    await openPlaying()
    service.refusals = { two: { status: 404, code: 'not_found' } }
    FakeAudio.refused = ['/two/']
    audio().advance(99)
    await settle()
    expect(playback.state).toMatchObject({ index: 2, status: 'ready', playing: true })
    await playback.select(1)
    await settle()
    expect(playback.state).toMatchObject({ index: 1, status: 'failed', code: 'not_found' })
  })
  test('of a renewed session are those of that session', async () => {
    await openPlaying({ apiKey: 'k' })
    service.refusals = { first: { status: 410, code: 'session_expired' } }
    audio().loadedTo = 20
    await vi.advanceTimersByTimeAsync(3600_000)
    requests.length = 0
    await playback.next()
    expect(requests).toEqual([])
    expect(playback.state.loaded!.url).toContain('/renewed/two/')
  })
})

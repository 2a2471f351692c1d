import { describe, expect, test, vi } from 'vitest'

import { FakeAudio } from './fake_audio.ts'
import {
  audio,
  endOutage,
  names,
  open,
  openPlaying,
  outage,
  playback,
  requests,
  service,
  settle,
  storage,
  views,
} from './playback_setup.ts'

/** Storage failures: the engine skips a faulty file and waits until an outage ends (docs/decisions/0065). */

/** Plays for 40 seconds, then storage fails. */
async function fail(answer: number | 'away') {
  await openPlaying()
  audio().advance(40)
  requests.length = 0
  outage(answer)
  audio().fail()
  await settle()
}
const wait = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000)

describe('a storage outage', () => {
  test.each([503, 429, 500, 408, 'away'] as const)('with %s does not lead to another file', async (answer) => {
    await fail(answer)
    expect(playback.state).toMatchObject({ status: 'offline', playing: true })
    await wait(10)
    endOutage()
    await wait(30)
    expect(playback.state).toMatchObject({ status: 'ready', playing: true })
    expect(playback.state.loaded).toMatchObject({ variant: 'aac-160' })
    expect([playback.time, audio().paused]).toEqual([41, false])
    expect(names().filter((name) => name !== 'sessionrefresh')).toEqual([])
  })
  test('that lasts for minutes causes few requests', async () => {
    await fail(503)
    await wait(300)
    expect(playback.state).toMatchObject({ status: 'offline', playing: true })
    expect([views('one'), storage.requests < 18]).toEqual([1, true])
    endOutage()
    await wait(31)
    expect([playback.state.status, playback.time, audio().paused]).toEqual(['ready', 41, false])
    expect(views('one')).toBe(2)
  })
  test('that outlasts the URL causes probes with a fresh URL', async () => {
    service.ttl = 100
    await fail(503)
    const { url, until } = playback.state.loaded!
    storage.onAsk = (probed) => (storage.answer = probed === url && until <= Date.now() ? 403 : 503)
    await wait(150)
    expect(playback.state).toMatchObject({ status: 'offline', loaded: { variant: 'aac-160' } })
    expect(playback.state.loaded!.url).not.toBe(url)
  })
  test('causes a retry after the delay that storage requests', async () => {
    storage.retryAfter = '20'
    await fail(429)
    await wait(19)
    expect(storage.requests).toBe(1)
    await wait(2)
    expect(storage.requests).toBe(2)
    storage.retryAfter = '86400'
    await wait(20)
    expect(storage.requests).toBe(3)
    endOutage()
    await wait(61)
    expect(playback.state.status).toBe('ready')
  })
  test('that has ended before the first probe does not change the file', async () => {
    storage.onAsk = endOutage
    await fail(503)
    expect(playback.state).toMatchObject({ status: 'ready', loaded: { variant: 'aac-160' } })
    expect([storage.requests, playback.time, audio().paused]).toEqual([1, 41, false])
  })
  test('that is intermittent causes retries with growing delays', async () => {
    // Every second probe succeeds, but storage never serves the file.
    storage.onAsk = () => (storage.answer = storage.requests % 2 ? 503 : 206)
    await fail(503)
    await wait(120)
    expect([storage.requests < 24, views('one') < 12]).toEqual([true, true])
    storage.onAsk = () => {}
    endOutage()
    await wait(31)
    expect(playback.state).toMatchObject({ status: 'ready', playing: true, loaded: { variant: 'aac-160' } })
  })
  test('between two tracks delays the album without ending it', async () => {
    await openPlaying()
    outage(503)
    audio().advance(100)
    await wait(5)
    expect(playback.state).toMatchObject({ index: 1, status: 'offline', playing: true })
    endOutage()
    await wait(30)
    expect(playback.state).toMatchObject({ index: 1, status: 'ready', loaded: { variant: 'aac-160' } })
    expect([playback.time, audio().paused]).toEqual([0, false])
    expect(names()).not.toContain('pause')
  })
  test('before playback starts only delays the ready state', async () => {
    outage(503)
    await open()
    expect(playback.state.status).toBe('offline')
    endOutage()
    await wait(3)
    expect([playback.state.status, audio().paused]).toEqual(['ready', true])
  })
  test('does not undo a pause and a seek made meanwhile', async () => {
    await fail(503)
    playback.pause()
    await playback.seek(70)
    endOutage()
    await wait(3)
    expect([playback.state.status, playback.time, audio().paused]).toEqual(['ready', 70, true])
  })
  test('causes an immediate probe when play is pressed', async () => {
    await fail(503)
    await wait(60)
    endOutage()
    await playback.play()
    await settle()
    expect([playback.state.status, playback.time, audio().paused]).toEqual(['ready', 41, false])
  })
  test('ends when the listener changes the track', async () => {
    await fail(503)
    await playback.next()
    await settle()
    endOutage()
    await playback.previous()
    await wait(5)
    expect(playback.state).toMatchObject({ index: 0, status: 'ready', loaded: { variant: 'aac-160' } })
  })
})

describe('a faulty file is replaced by the next one', () => {
  test.each([403, 404, 410])('at once if storage responds with %s', async (answer) => {
    await openPlaying()
    FakeAudio.refused = ['/aac-160']
    storage.answer = answer
    audio().fail()
    await settle()
    expect(playback.state).toMatchObject({ status: 'ready', loaded: { variant: 'mp3-128' } })
    expect([storage.requests, views('one')]).toEqual([1, 2])
  })
  test('after a second decoding error, without a storage probe', async () => {
    await openPlaying()
    audio().fail(3)
    await settle()
    expect(playback.state.loaded).toMatchObject({ variant: 'aac-160' })
    audio().fail(3)
    await settle()
    expect(playback.state.loaded).toMatchObject({ variant: 'mp3-128' })
    expect(storage.requests).toBe(0)
  })
  test('after its third failure even if storage has it; if no file is left, the track fails', async () => {
    await openPlaying()
    FakeAudio.refused = ['/aac-160']
    audio().fail()
    await settle()
    expect(playback.state).toMatchObject({ status: 'ready', loaded: { variant: 'mp3-128' } })
    FakeAudio.refused = ['r2']
    audio().fail()
    await settle()
    expect(playback.state).toMatchObject({ status: 'failed', code: 'no_playable_variant', playing: false })
  })
  test('after a minute if the page cannot probe storage', async () => {
    await openPlaying()
    FakeAudio.refused = ['/aac-160']
    storage.answer = 'away'
    audio().fail()
    await wait(60)
    expect(playback.state).toMatchObject({ status: 'offline', playing: true })
    await wait(60)
    expect(playback.state).toMatchObject({ status: 'ready', playing: true, loaded: { variant: 'mp3-128' } })
  })
})

import { beforeEach, describe, expect, test, vi } from 'vitest'

import type { Session } from '../../src/client/playback/state.ts'
import { FakeAudio } from './fake_audio.ts'
import {
  audio,
  create,
  events,
  names,
  open,
  openPlaying,
  playback,
  requests,
  service,
  session,
  settle,
} from './playback_setup.ts'

/** Sessions that end, are renewed, or change their track list. */

describe('a session that the page has', () => {
  const given = () => session('first') as unknown as Session

  test('plays without a request to the service', async () => {
    create({ session: given() })
    await playback.open()
    await playback.play()
    await settle()
    expect(requests).toEqual([])
    expect(playback.state).toMatchObject({ status: 'ready', playing: true, view: { track_id: 'one' } })
    expect(playback.state.session?.tracks).toHaveLength(3)
  })

  test('is opened once: a retry reads the session again', async () => {
    create({ session: { ...given(), tracks: [], first_track: null } })
    await playback.open()
    expect([playback.state.status, requests]).toEqual(['empty', []])
    await playback.retry()
    await settle()
    expect([playback.state.status, requests]).toEqual(['ready', ['GET /v1/play/first?views=5']])
  })

  test('is renewed if it has ended by the time it is played, as on a page that was restored', async () => {
    const old = given()
    service.refusals = { first: { status: 410, code: 'session_expired' } }
    await open({ session: { ...old, first_track: null }, apiKey: 'k' })
    await playback.play()
    await settle()
    expect(playback.state).toMatchObject({
      status: 'ready',
      playing: true,
      session: { play_session: { id: 'renewed' } },
    })
  })
})

describe('an expired session', () => {
  const gone = { status: 410, code: 'session_expired' }
  // The views of the next tracks are not known yet.
  beforeEach(() => void (service.views = 1))

  test('is reported once, and playback waits for another session', async () => {
    await openPlaying()
    service.refusals = { two: gone, three: gone }
    await playback.next()
    await playback.select(2)
    await settle()
    expect(playback.state).toMatchObject({ status: 'expired', playing: true })
    expect(names().filter((name) => name === 'sessionexpired')).toHaveLength(1)
    expect(names()).not.toContain('error')
    // Each later call of `play` reports the expiry again.
    await playback.play()
    expect(names().filter((name) => name === 'sessionexpired')).toHaveLength(2)
  })
  test('pauses when nothing is loaded, and resumes by itself with another session', async () => {
    await openPlaying()
    service.refusals = { two: gone }
    await playback.next()
    await settle()
    expect(names()).toEqual(['trackchange', 'pause', 'sessionexpired'])
    expect([playback.paused, audio().paused, playback.resumePoint.play]).toEqual([true, true, true])
    // Nothing starts, because the session is still expired.
    await playback.play()
    expect([names().includes('play'), playback.paused]).toEqual([false, true])
    service.refusals = {}
    await playback.play()
    await settle()
    expect([names().at(-1), playback.paused, audio().paused]).toEqual(['play', false, false])
    service.refusals = { three: gone }
    await playback.next()
    playback.pause()
    expect([names().filter((name) => name === 'pause').length, playback.resumePoint.play]).toEqual([2, false])
  })
  test('pauses when it expires before it is opened', async () => {
    service.refusals = { first: gone }
    create()
    const opening = playback.open()
    await playback.play()
    await opening
    expect([names(), playback.paused]).toEqual([['play', 'pause', 'sessionexpired'], true])
    expect(playback.resumePoint.play).toBe(true)
  })
  test('is reported again on play even if the very first response was a 410', async () => {
    service.refusals = { first: gone }
    await open()
    expect(names()).toEqual(['sessionexpired'])
    await playback.play()
    await settle()
    expect(names().filter((name) => name === 'sessionexpired')).toHaveLength(2)
    expect(playback.state.status).toBe('expired')
  })
  test('does not pause a track that is completely loaded', async () => {
    await openPlaying()
    service.refusals = { first: gone }
    service.ttl = 1
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect([names(), playback.paused, audio().paused]).toEqual([['sessionexpired'], false, false])
  })
  test('is renewed without an expiry event if there is a key', async () => {
    await openPlaying({ apiKey: 'k' })
    const { fetch } = globalThis
    vi.stubGlobal('fetch', (url: string, init: RequestInit) =>
      url.includes('/play/first')
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

describe('a renewed session that lacks the playing track', () => {
  beforeEach(async () => {
    await openPlaying({ apiKey: 'k' })
    await playback.select(1)
    await settle()
    audio().loadedTo = 20
    service.removed = ['two']
    service.refusals = { first: { status: 410, code: 'session_expired' } }
    events.length = 0
    await vi.advanceTimersByTimeAsync(3600_000)
    expect(events[0]).toMatchObject({ name: 'sessionrefresh', detail: { renewed: true } })
  })
  const titles = () => playback.state.session!.tracks.map(({ player_title }) => player_title)

  test('still lists the playing track and reports it in events', async () => {
    const { session, index, view } = playback.state
    expect([session!.tracks[index]!.id, view!.track_id]).toEqual(['two', 'two'])
    expect(titles()).toEqual(['one', 'two', 'three'])
    playback.pause()
    expect(events.at(-1)).toMatchObject({ name: 'pause', detail: { index: 1, track: { id: 'two' } } })
  })
  test('continues with the next track', async () => {
    audio().loadedTo = 100
    audio().advance(100)
    await settle()
    expect(playback.state).toMatchObject({ index: 2, status: 'ready', playing: true, view: { track_id: 'three' } })
    await playback.previous()
    expect(playback.state).toMatchObject({ index: 1, status: 'failed', code: 'not_found' })
    await playback.previous()
    await playback.play()
    expect(playback.state).toMatchObject({ index: 0, status: 'ready', view: { track_id: 'one' } })
  })
  test('is not polled for the track that it lacks', async () => {
    requests.length = 0
    await vi.advanceTimersByTimeAsync(600_000)
    expect(requests.length).toBeLessThan(4)
  })
})

test('the preloaded track is kept when the renewed session has another order', async () => {
  await openPlaying({ apiKey: 'k' })
  await playback.select(1)
  await settle()
  audio().advance(85)
  await settle()
  expect(playback.state.prefetched).toMatchObject({ trackId: 'three' })
  service.removed = ['one']
  service.refusals = { first: { status: 410, code: 'session_expired' } }
  await vi.advanceTimersByTimeAsync(3600_000)
  expect(playback.state).toMatchObject({ index: 0, view: { track_id: 'two' } })
  audio().advance(100)
  await settle()
  expect(playback.state).toMatchObject({ index: 1, view: { track_id: 'three' } })
  expect(audio().src).toContain('/first/three/')
})

describe('a playing session of one minute', () => {
  /** Advances the time in steps of half a second, so the other element can take over. */
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

  test('is renewed with a key before it ends', async () => {
    await openPlaying({ apiKey: 'k' })
    await playFor(58)
    expect(events.find(({ name, detail }) => name === 'sessionrefresh' && detail.renewed)).toBeDefined()
    expect(playback.state).toMatchObject({ status: 'ready', playing: true })
    await playFor(30)
    expect(playback.state.loaded!.url).toContain('/renewed/')
    expect(names().every((name) => name === 'sessionrefresh')).toBe(true)
  })
  test('is reported as expired if the other element never takes over', async () => {
    await openPlaying()
    FakeAudio.refused = ['r2']
    await playFor(75)
    expect(names().filter((name) => name === 'sessionexpired')).toHaveLength(1)
    expect(playback.state).toMatchObject({ status: 'ready', playing: true })
  })
  test('is reported as expired if there is no key, and playback continues from the buffer', async () => {
    await openPlaying()
    await playFor(58)
    expect(names()).not.toContain('sessionexpired')
    await playFor(20)
    expect(names().filter((name) => name === 'sessionexpired')).toHaveLength(1)
    expect(playback.state).toMatchObject({ status: 'ready', playing: true })
  })
})

describe('a 404', () => {
  beforeEach(() => void (service.views = 1))
  test('for an old session causes a renewal if there is a key, and otherwise ends the session', async () => {
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
  test('for one track of a valid session affects only that track', async () => {
    await openPlaying({ apiKey: 'k' })
    service.refusals = { two: { status: 404, code: 'not_found' } }
    audio().advance(100)
    await settle()
    expect(playback.state).toMatchObject({ index: 2, playing: true })
    expect(events.filter(({ name, detail }) => name === 'sessionexpired' || detail.renewed)).toEqual([])
  })
})

import { describe, expect, test, vi } from 'vitest'

import { FakeAudio } from './fake_audio.ts'
import {
  audio,
  create,
  events,
  hooks,
  names,
  open,
  openPlaying,
  playback,
  requests,
  service,
  settle,
  views,
} from './playback_setup.ts'

/** The playback engine when nothing fails. */

describe('opening', () => {
  test('loads the first track and waits', async () => {
    await open()
    expect(playback.state).toMatchObject({ status: 'ready', index: 0, playing: false })
    expect(playback.state.loaded).toMatchObject({ trackId: 'one', variant: 'aac-160' })
    expect(names()).toEqual(['trackchange', 'ready'])
  })
  test('starts at the requested track (number or id) and position, and plays if requested', async () => {
    await open({ start: { track: '2', position: 30, play: true } })
    expect([playback.state.index, playback.time, audio().paused]).toEqual([1, 30, false])
    playback.close()
    await open({ start: { track: 'three' } })
    expect(playback.state.index).toBe(2)
  })
  test('does not start playback if the page pauses meanwhile', async () => {
    create({ start: { play: true } })
    const opening = playback.open()
    playback.pause()
    await opening
    await settle()
    expect(audio().paused).toBe(true)
    expect(names()).not.toContain('play')
  })
  test('starts at the requested position when play is pressed while the service is unreachable', async () => {
    service.refusals = { all: 'away' }
    const opening = create({ start: { track: '2', position: 5 } }).open()
    await vi.advanceTimersByTimeAsync(2000)
    await opening
    expect(playback.state.status).toBe('offline')
    service.refusals = {}
    await playback.play()
    await settle()
    expect([playback.state.index, playback.time, audio().paused]).toEqual([1, 5, false])
  })
  test('fails with the error code of the service when the session does not exist', async () => {
    service.refusals = { first: { status: 404, code: 'not_found' } }
    await open()
    expect(playback.state).toMatchObject({ status: 'failed', code: 'not_found' })
    expect(events.at(-1)).toEqual({ name: 'error', detail: { code: 'not_found', message: 'No' } })
  })
  test('retries while the service is unreachable, and at once when the network is back', async () => {
    service.refusals = { all: 'away' }
    create()
    const opening = playback.open()
    await vi.advanceTimersByTimeAsync(3000)
    await opening
    expect(playback.state).toMatchObject({ status: 'offline', code: 'network' })
    service.refusals = {}
    await vi.advanceTimersByTimeAsync(3000)
    expect(playback.state.status).toBe('ready')
    expect(names()).not.toContain('error')
  })
})

describe('playing', () => {
  test('continues an album with the preloaded file', async () => {
    service.views = 1
    await openPlaying()
    const before = playback.audio
    audio().advance(80)
    await settle()
    expect(playback.state.prefetched).toMatchObject({ trackId: 'two' })
    audio().advance(100)
    await settle()
    expect(playback.state).toMatchObject({ index: 1, playing: true })
    expect([playback.audio === before, audio().src.includes('/two/')]).toEqual([false, true])
    expect(names()).toEqual(['sessionrefresh', 'ended', 'trackchange'])
    expect(views('two')).toBe(1)
  })
  test('stops after the last track and restarts that track on play', async () => {
    await openPlaying({ start: { track: '3' } })
    audio().advance(100)
    await settle()
    expect(events.at(-1)?.name).toBe('pause')
    expect(events.find(({ name }) => name === 'ended')?.detail).toMatchObject({ index: 2, last: true })
    await playback.play()
    expect([playback.time, audio().paused]).toEqual([0, false])
  })
  test('repeats one track or all tracks', async () => {
    await openPlaying({ start: { track: '3' }, options: { loop: 'one' } })
    audio().advance(100)
    await settle()
    expect([playback.state.index, playback.time, audio().paused]).toEqual([2, 0, false])
    playback.close()
    await openPlaying({ start: { track: '3' }, options: { loop: 'all' } })
    audio().advance(100)
    await settle()
    expect(playback.state).toMatchObject({ index: 0, playing: true })
  })
  test('skips an unplayable track automatically, but not when the listener selects it', async () => {
    service.refusals = { two: { status: 404, code: 'not_found' } }
    await openPlaying()
    audio().advance(100)
    await settle()
    expect(playback.state).toMatchObject({ index: 2, status: 'ready', playing: true })
    await playback.select(1)
    expect(playback.state).toMatchObject({ index: 1, status: 'failed' })
  })
  test('uses a single audio element if the browser allows playback only in the element that a gesture started', async () => {
    FakeAudio.gestureOnly = true
    await openPlaying()
    const first = playback.audio
    audio().advance(80)
    await settle()
    audio().advance(100)
    await settle()
    expect([playback.state.index, playback.audio === first, audio().paused]).toEqual([1, true, false])
    expect(names().filter((name) => name === 'pause')).toEqual([])
  })
  test('restarts the track on the first call to previous, and returns to the previous track on the second', async () => {
    await openPlaying({ start: { track: '2' } })
    audio().advance(3)
    await playback.previous()
    expect([playback.state.index, playback.time]).toEqual([1, 0])
    await playback.previous()
    expect(playback.state.index).toBe(0)
  })
  test('does not carry the start position of an unloaded track over to the next one', async () => {
    FakeAudio.held = true
    await open()
    await playback.seek(40)
    expect([playback.time, audio().readyState]).toEqual([40, 0])
    FakeAudio.held = false
    await playback.next()
    await settle()
    expect([playback.state.index, playback.time, audio().currentTime]).toEqual([1, 0, 0])
  })
  test('stops when the sleep timer expires, or at the end of the track if the timer is set to that', async () => {
    await openPlaying()
    playback.sleepAt(Date.now() + 60_000)
    await playback.next()
    await settle()
    await vi.advanceTimersByTimeAsync(59_000)
    expect(playback.state.playing).toBe(true)
    await vi.advanceTimersByTimeAsync(1000)
    expect([playback.state.playing, audio().paused, playback.state.sleep]).toEqual([false, true, null])
    await playback.play()
    playback.sleepAt('track')
    audio().advance(100)
    await settle()
    expect(playback.state).toMatchObject({ index: 2, playing: false, status: 'ready', sleep: null })
  })
})

describe('a pause that the page requests in an event handler', () => {
  const pauseOn = (wanted: string) => (hooks.onEvent = (name) => name === wanted && playback.pause())

  test('takes effect at once', async () => {
    await open()
    pauseOn('play')
    await playback.play()
    expect([playback.state.playing, audio().paused]).toEqual([false, true])
  })
  test('takes effect at the end of a track when the next track is already loaded', async () => {
    await openPlaying()
    audio().advance(80)
    await settle()
    pauseOn('ended')
    audio().advance(100)
    await settle()
    expect(playback.state).toMatchObject({ index: 0, playing: false })
  })
  test('takes effect while a track change waits for a play view', async () => {
    await openPlaying()
    pauseOn('trackchange')
    await playback.next()
    await settle()
    expect([playback.state.index, playback.state.playing, audio().paused]).toEqual([1, false, true])
  })
})

test('a track resumes at its saved position, however the listener reaches it', async () => {
  hooks.resumeAt = (id) => (id === 'two' ? 40 : 0)
  await openPlaying()
  await playback.next()
  expect([playback.state.index, playback.time]).toEqual([1, 40])
  await playback.select(0)
  await settle()
  audio().advance(90)
  await settle()
  audio().advance(100)
  await settle()
  expect([playback.state.index, playback.time]).toEqual([1, 40])
  playback.close()
  await open({ start: { track: '2', position: 10 } })
  expect(playback.time).toBe(10)
})

test('goTo seeks to a time and can change the track', async () => {
  await open()
  await playback.goTo({ track: null, position: 20 })
  expect([playback.state.index, playback.time]).toEqual([0, 20])
  await playback.goTo({ track: '3', position: 30 })
  expect([playback.state.index, playback.time, playback.state.playing]).toEqual([2, 30, false])
})
test('goTo with an unknown track changes nothing and returns false', async () => {
  await openPlaying()
  expect(await playback.goTo({ track: 'nowhere', position: 50 })).toBe(false)
  expect([playback.state.index, playback.time, playback.state.playing]).toEqual([0, 1, true])
  expect(await playback.goTo({ track: 'one', position: 50 })).toBe(true)
  expect([playback.state.index, playback.time]).toEqual([0, 50])
})
test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
  'a seek to %s is not an error',
  async (to) => {
    create({ start: { position: 5 } })
    const opening = playback.open()
    await playback.seek(to)
    await opening
    await settle()
    expect(playback.time).toBe(to < 0 ? 0 : 5)
    await playback.seek(to)
    expect(playback.time).toBe(to > 0 ? 99.95 : to < 0 ? 0 : 5)
    await playback.goTo({ track: '2', position: to })
    await settle()
    expect(playback.state).toMatchObject({ index: 1, status: 'ready' })
  },
)

test('after close, the engine sends no requests and releases the element', async () => {
  await openPlaying()
  const { audio: element } = playback
  playback.close()
  expect([element.paused, element.hasAttribute('src'), playback.state.loaded]).toEqual([true, false, null])
  audio().fail()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(requests).toEqual([])
})

import { describe, expect, test, vi } from 'vitest'

import {
  audio,
  create,
  hooks,
  names,
  open,
  playback,
  requests,
  service,
  settle,
  sourceOptions,
} from './playback_setup.ts'

/** The playback engine with a part of a track. */

const CLIP = { start: 62, end: 75 }
const START = { position: CLIP.start, clip: CLIP }

/** Lets the sound and the clock of the page continue, without an event of the element. */
async function pass(seconds: number) {
  audio().pass(seconds * audio().playbackRate)
  await vi.advanceTimersByTimeAsync(seconds * 1000)
}
const place = () => [playback.state.playing, playback.time]

describe('a clip', () => {
  test('starts at its start and pauses at its end, between two updates of the time', async () => {
    await open({ start: { ...START, track: '2', play: true } })
    expect([playback.state.index, playback.time, audio().paused]).toEqual([1, 62, false])
    await pass(12.9)
    expect(place()).toEqual([true, 74.9])
    await pass(0.3)
    expect([...place(), audio().paused]).toEqual([false, 75, true])
    expect(names().at(-1)).toBe('pause')
    expect(playback.state.clip).toEqual(CLIP)
  })
  test('is over when playback continues after its end, and the next track follows as usual', async () => {
    await open({ start: { ...START, play: true } })
    await pass(13.1)
    await playback.play()
    await pass(5)
    expect([...place(), playback.state.clip]).toEqual([true, 80, null])
    audio().advance(10)
    await settle()
    expect(playback.state.prefetched?.trackId).toBe('two')
    audio().advance(20)
    await settle()
    expect([playback.state.index, ...place()]).toEqual([1, true, 0])
  })
  test('continues after a pause, and after a seek to another part of it', async () => {
    await open({ start: { ...START, play: true } })
    await pass(5)
    playback.pause()
    await pass(60)
    await playback.play()
    await playback.seek(74)
    await pass(0.5)
    expect([...place(), playback.state.clip]).toEqual([true, 74.5, CLIP])
    await pass(0.6)
    expect(place()).toEqual([false, 75])
  })
  test('ends sooner at a higher speed, and later after a stall', async () => {
    await open({ start: { ...START, play: true } })
    sourceOptions.rate = 2
    playback.changeOptions({ rate: 2 })
    audio().stall()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(place()).toEqual([true, 62])
    audio().readyState = 4
    audio().dispatchEvent(new Event('playing'))
    await pass(6)
    expect(place()).toEqual([true, 74])
    await pass(0.6)
    expect(place()).toEqual([false, 75])
  })
  test.each([50, 80])('ends with a seek out of it, to %d s', async (position) => {
    await open({ start: { ...START, play: true } })
    await playback.seek(position)
    expect(playback.state.clip).toBeNull()
    await pass(15)
    expect(place()).toEqual([true, position + 15])
  })
  test('ends with another track, even one that is chosen before the session is open', async () => {
    await open({ start: START })
    await playback.next()
    expect([playback.state.index, playback.state.clip, playback.time]).toEqual([1, null, 0])
    playback.close()
    create({ start: START })
    void playback.next()
    await playback.open()
    expect([playback.state.index, playback.state.clip, playback.time]).toEqual([1, null, 0])
  })
  test('is left out if the session does not have its track', async () => {
    await open({ start: { ...START, track: 'gone' } })
    expect([playback.state.clip, playback.time]).toEqual([null, 0])
  })
  test('from the start of a track plays from there, even if the listener was elsewhere in the track', async () => {
    hooks.resumeAt = () => 40
    await open({ start: { position: 0, clip: { start: 0, end: 5 } } })
    expect(playback.time).toBe(0)
  })
  test('that ends with its track is not followed by the next one, which is neither loaded nor played', async () => {
    service.views = 1
    await open({ start: { position: 90, clip: { start: 90, end: 500 }, play: true } })
    requests.length = 0
    audio().advance(9)
    await settle()
    expect(requests).toEqual([])
    audio().advance(1)
    await settle()
    expect([playback.state.index, ...place(), playback.state.clip]).toEqual([1, false, 0, null])
    await playback.select(2)
    await playback.goTo({ track: null, position: 90, clip: { start: 90, end: 500 } })
    audio().advance(10)
    await settle()
    expect(place()).toEqual([false, 100])
    await playback.play()
    await settle()
    expect([...place(), playback.state.clip]).toEqual([true, 0, null])
  })
  test('can be set, replaced and left while the track plays', async () => {
    await open({ start: { play: true } })
    await playback.goTo({ track: null, ...START })
    await playback.goTo({ track: null, position: 10, clip: { start: 10, end: 12 } })
    await pass(1)
    playback.setClip(null)
    await pass(5)
    expect(place()).toEqual([true, 16])
    expect(await playback.goTo({ track: '3', ...START })).toBe(true)
    await settle()
    expect([playback.state.index, ...place()]).toEqual([2, true, 62])
    await pass(14)
    expect(place()).toEqual([false, 75])
  })
  test('continues in another session, and is set before the session is open', async () => {
    create()
    await playback.goTo({ track: null, ...START })
    await playback.open()
    await settle()
    await playback.play()
    await pass(5)
    const { resumePoint } = playback
    expect(resumePoint).toMatchObject({ track: 'one', position: 67, clip: CLIP })
    playback.close()
    await open({ start: resumePoint })
    await pass(9)
    expect(place()).toEqual([false, 75])
  })
})

import { beforeEach, describe, expect, test, vi } from 'vitest'

import type { PlaybackOptions } from '../../src/client/playback/state.ts'
import { FakeAudio } from './fake_audio.ts'
import {
  audio,
  create,
  sourceOptions,
  openPlaying,
  outage,
  playback,
  service,
  settle,
  storage,
} from './playback_setup.ts'

/** The gain of a track, from an analysis that arrives early, late or never. */

describe('loudness normalization', () => {
  beforeEach(() => void (service.analysis = Promise.resolve({ integrated_lufs: -8, true_peak_dbtp: 0 })))
  const softer = 10 ** (-10 / 20)
  function change(options: Partial<PlaybackOptions>) {
    Object.assign(sourceOptions, options)
    playback.changeOptions(options)
  }

  test('follows the analysis, and can be turned off during playback', async () => {
    await openPlaying({ options: { normalize: true, volume: 0.5 } })
    expect(audio().volume).toBeCloseTo(softer / 2)
    change({ volume: 1 })
    expect(audio().volume).toBeCloseTo(softer)
    change({ normalize: false })
    await vi.advanceTimersByTimeAsync(1000)
    expect(audio().volume).toBe(1)
  })
  test('waits for the analysis, but only briefly', async () => {
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
  /** Opens a playing track and returns a function that delivers the analysis. */
  async function openLate() {
    const { promise, resolve } = Promise.withResolvers<object>()
    service.analysis = promise
    create({ options: { normalize: true }, start: { play: true } })
    const opening = playback.open()
    await vi.advanceTimersByTimeAsync(900)
    await opening
    expect([playback.state.status, audio().paused, audio().volume]).toEqual(['ready', false, 1])
    return () => resolve({ integrated_lufs: -8, true_peak_dbtp: 0 })
  }
  /** The volume at intervals of 10 milliseconds during one second. */
  async function volumes() {
    const heard = [audio().volume]
    for (let i = 0; i < 100; i++) {
      await vi.advanceTimersByTimeAsync(10)
      heard.push(audio().volume)
    }
    return heard
  }
  test('adjusts to a late analysis in small steps', async () => {
    const arrive = await openLate()
    await vi.advanceTimersByTimeAsync(5000)
    arrive()
    const heard = await volumes()
    expect(heard.at(-1)).toBeCloseTo(softer)
    for (const [i, volume] of heard.slice(1).entries())
      expect(volume / heard[i]!, `after ${i * 10} ms`).toBeGreaterThan(10 ** (-0.6 / 20))
    expect(playback.state.gain).toBeCloseTo(softer)
  })
  test('ignores an analysis that arrives after the track has changed', async () => {
    const arrive = await openLate()
    service.analysis = Promise.resolve({ integrated_lufs: -18, true_peak_dbtp: -3 })
    await playback.next()
    await settle()
    arrive()
    expect(new Set(await volumes())).toEqual(new Set([1]))
  })
  test('stops adjusting when the track changes or the page turns normalization off', async () => {
    const arrive = await openLate()
    arrive()
    await vi.advanceTimersByTimeAsync(100)
    expect(audio().volume).toBeLessThan(1)
    service.analysis = Promise.resolve({ integrated_lufs: -18, true_peak_dbtp: -3 })
    await playback.next()
    expect(new Set((await volumes()).slice(1))).toEqual(new Set([1]))
    playback.close()
    const again = await openLate()
    again()
    await vi.advanceTimersByTimeAsync(100)
    change({ normalize: false })
    expect((await volumes()).at(-1)).toBe(1)
  })
  test('keeps its gain when the file is reloaded without an analysis', async () => {
    await openPlaying({ options: { normalize: true } })
    outage(503)
    audio().fail()
    await vi.advanceTimersByTimeAsync(5000)
    FakeAudio.refused = []
    storage.onAsk = (url) => (storage.answer = url.includes('analysis') ? 503 : 206)
    await vi.advanceTimersByTimeAsync(30_000)
    expect([playback.state.status, audio().paused]).toEqual(['ready', false])
    expect(audio().volume).toBeCloseTo(softer)
  })
  test('leaves the volume unchanged when it is turned on and off again at once', async () => {
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

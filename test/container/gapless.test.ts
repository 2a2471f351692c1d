import { afterAll, describe, expect, it } from 'vitest'

import { decode, ffmpeg, type Format, formats, probeAudio } from '../support/audio.ts'
import { movieTimes } from '../support/containers.ts'
import { chirps, lagOf, sample } from '../support/signal.ts'
import { wavFile } from '../support/wav.ts'
import { startMeasuring } from './measuring.ts'
import { sharedService } from './shared.ts'

/**
 * Encoding adds, removes and moves no audio, so tracks that follow each other without a gap still do.
 * test/e2e/seek.test.ts tests the same in Chromium.
 */

const measuring = await startMeasuring(await sharedService())
afterAll(() => measuring.stop())

const SECONDS = 3.1234
const AUDIO = ['aac-160', 'mp3-128', 'opus-96', 'lossless']
/** Start times in seconds of the bursts that are checked: the first one, one in the middle, and the last one. */
const BURSTS = [0, 1.5, 3]
const AAC_FRAME = 1024

/**
 * Maximum number of samples, 0.06 ms, by which a burst of a lossy source may appear shifted: it was encoded twice,
 * which changes the shape of its start.
 */
const LATE = 3

const wave = chirps(0.5)
const left = (samples: Int16Array) => samples.filter((_, i) => i % 2 === 0)

describe.each<[Format, number]>([
  ['wav', 44100],
  ['wav', 48000],
  ['flac', 44100],
  ['alac', 44100],
  ['mp3', 44100],
  ['mp3', 48000],
  ['m4a', 44100],
  ['m4a', 48000],
  ['ogg', 44100],
  ['opus', 48000],
  ['webm', 48000],
])('a source in %s at %d Hz', (format, rate) => {
  it('keeps its length and the position of its sounds in every variant', async () => {
    const wav = wavFile(sample([wave, wave], { rate, seconds: SECONDS, bits: 16 }))
    const source = format === 'wav' ? wav : await ffmpeg(['-i', 'in', ...formats[format]], { in: wav })
    const samples = await decode(source)
    const { result, file } = await measuring.make(source, AUDIO)

    // ffmpeg before version 5 keeps the padding of the last Vorbis frame, and ffmpeg before version 8 keeps that of the last
    // AAC frame. The header of an M4A states the end of the audio only to the millisecond.
    const [sourceFrames, decoded] = [Math.round(SECONDS * rate), samples.length / 2]
    const ended = format === 'm4a' ? Math.round((movieTimes(source).edits[0]!.length * rate) / 1000) : decoded
    const kept = format === 'ogg' && result.duration < decoded / rate - 0.001 ? sourceFrames : ended
    expect(result.duration).toBe(Math.round((kept / rate) * 1000) / 1000)
    expect(result.warnings).toEqual([])

    const lossless = ['wav', 'flac', 'alac'].includes(format)
    for (const { index } of result.variants) {
      const variant = file(index)
      const variantRate = (await probeAudio(variant)).rate
      const variantSamples = await decode(variant)
      const added = variantSamples.length / 2 - (kept * variantRate) / rate
      const moved = BURSTS.map((second) => lagOf(left(variantSamples), wave, variantRate, second))
      const seen = `${index}: ${added} frames more, bursts late by ${moved.join(', ')}`
      if (index === 'lossless') expect(variantSamples, seen).toEqual(samples)
      if (index === 'mp3-128') expect(added, seen).toBe(0)
      if (index === 'opus-96') expect(Math.abs(added), seen).toBeLessThan(1)
      if (index === 'aac-160') expect(added >= 0 && added < AAC_FRAME, seen).toBe(true)
      for (const late of moved) expect(Math.abs(late), seen).toBeLessThanOrEqual(lossless ? 0 : LATE)
    }
    expect(result.variants.map((variant) => variant.index).toSorted()).toEqual(
      AUDIO.filter((index) => lossless || index !== 'lossless').toSorted(),
    )
  })
})

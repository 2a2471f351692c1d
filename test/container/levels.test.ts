import { describe, expect, it } from 'vitest'

import { createPcmMeter, levels } from '../../container/audio/measure/levels.ts'
import { waveform } from '../../container/audio/measure/waveform.ts'
import { sample, silence, sine, type Wave } from '../support/signal.ts'

function measure(samples: number[], channels = 1, chunkBytes = 7) {
  const bytes = Buffer.from(Int16Array.from(samples).buffer)
  const meter = createPcmMeter(channels)
  for (let at = 0; at < bytes.length; at += chunkBytes) meter.add(bytes.subarray(at, at + chunkBytes))
  return meter.summary()
}

describe('the PCM meter', () => {
  it('gives the same result regardless of how the bytes are split', () => {
    const samples = Array.from({ length: 4002 }, (_, i) => ((i * 7919) % 60000) - 30000)
    const expected = measure(samples, 2, samples.length * 2)
    expect(measure(samples, 2, 7)).toEqual(expected)
    expect(expected).toMatchObject({ frames: 2001, framesPerBin: 16, bins: 126 })
  })

  it('uses constant memory regardless of the length of the audio', () => {
    const meter = createPcmMeter(1)
    const second = Buffer.from(new Int16Array(48000).fill(1000).buffer)
    for (let i = 0; i < 60; i++) meter.add(second)
    const pcm = meter.summary()
    expect(pcm).toMatchObject({ frames: 60 * 48000, framesPerBin: 128, bins: 22500 })
    expect(levels(pcm).every((level) => level === 1)).toBe(true)
  })

  it('truncates the mono mix and the 8-bit values toward zero, like C', () => {
    const pcm = measure([-255, -256, 511, 512, -3, 0], 2)
    expect([pcm.min[0], pcm.max[0]]).toEqual([-255, 511])
    expect(waveform(pcm, 8000)).toMatchObject({ samples_per_pixel: 16, length: 1, data: [0, 1] })
  })
})

describe('levels of unusual audio', () => {
  it('are repeated if there are fewer samples than levels', () => {
    const result = levels(measure([1000, 1000, 1000]))
    expect(result).toHaveLength(320)
    expect(new Set(result)).toEqual(new Set([1]))
  })

  it('are zero for noise below -70 dB', () => {
    expect(new Set(levels(measure(Array.from({ length: 5000 }, (_, i) => (i % 3) - 1))))).toEqual(new Set([0]))
  })

  it('are zero if there are no samples', () => {
    expect(new Set(levels(measure([])))).toEqual(new Set([0]))
  })
})

describe('levels relative to the loudest section', () => {
  /** Levels of consecutive waves of 0.25 seconds each. */
  function levelsOf(...waves: Wave[]) {
    const { channels } = sample([(t) => waves[Math.floor(t * 4)]!(t)], {
      rate: 44100,
      seconds: waves.length / 4,
      bits: 16,
    })
    return levels(measure([...channels[0]!], 1, 65536))
  }
  /** The levels of one of `parts` equal sections, without those that overlap a neighboring section. */
  const part = (all: number[], place: number, parts: number) =>
    all.slice(Math.ceil((320 / parts) * place) + 1, Math.floor((320 / parts) * (place + 1)) - 1)
  const square: Wave = (t) => (Math.floor(t * 2000) % 2 === 0 ? 0.9 : -0.9)
  const sawtooth: Wave = (t) => 0.9 * (((t * 7001) % 2) - 1)

  it.each<[string, Wave, number]>([
    ['a sine is 1/√2 of a square', sine(7001, 0.9), Math.SQRT1_2],
    ['a sawtooth is 1/√3 of a square', sawtooth, 1 / Math.sqrt(3)],
    ['half the amplitude is one half', (t) => square(t) / 2, 0.5],
    ['a tenth of the amplitude is one tenth', (t) => square(t) / 10, 0.1],
    ['silence is 0', silence, 0],
  ])('use RMS: %s', (_, wave, expected) => {
    const found = levelsOf(square, wave, square, wave)
    for (const level of [...part(found, 0, 4), ...part(found, 2, 4)]) expect(level).toBe(1)
    for (const level of [...part(found, 1, 4), ...part(found, 3, 4)])
      expect(Math.abs(level - expected)).toBeLessThan(0.012)
  })

  it('include stereo whose channels have opposite phase', () => {
    const [left] = sample([sine(500, 0.5)], { rate: 44100, seconds: 0.5, bits: 16 }).channels
    const both = measure(
      [...left!].flatMap((value) => [value, -value]),
      2,
      65536,
    )
    expect(levels(both)).toEqual(levels(measure([...left!], 1, 65536)))
  })

  it('are the same for a sound in one channel as for a sound in both', () => {
    const [left] = sample([sine(500, 0.5)], { rate: 44100, seconds: 0.5, bits: 16 }).channels
    const oneSided = measure(
      [...left!].flatMap((value, i) => (i < 11025 ? [value, 0] : [value, value])),
      2,
      65536,
    )
    expect(levels(oneSided)).toEqual(levels(measure([...left!], 1, 65536)))
  })
})

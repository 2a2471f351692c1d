import { describe, expect, it } from 'vitest'

import { createPcmMeter, levels } from '../../container/levels.ts'
import { waveform } from '../../container/waveform.ts'

function measure(samples: number[], channels = 1, chunkBytes = 7) {
  const bytes = Buffer.from(Int16Array.from(samples).buffer)
  const meter = createPcmMeter(channels)
  for (let at = 0; at < bytes.length; at += chunkBytes) meter.add(bytes.subarray(at, at + chunkBytes))
  return meter.summary()
}

describe('the PCM meter', () => {
  it('does not care how the bytes are cut', () => {
    const samples = Array.from({ length: 4002 }, (_, i) => ((i * 7919) % 60000) - 30000)
    const whole = measure(samples, 2, samples.length * 2)
    expect(measure(samples, 2, 7)).toEqual(whole)
    expect(whole).toMatchObject({ frames: 2001, framesPerBin: 16, bins: 126 })
  })

  it('keeps its size however long the audio is', () => {
    const meter = createPcmMeter(1)
    const second = Buffer.from(new Int16Array(48000).fill(1000).buffer)
    for (let i = 0; i < 60; i++) meter.add(second)
    const pcm = meter.summary()
    expect(pcm).toMatchObject({ frames: 60 * 48000, framesPerBin: 128, bins: 22500 })
    expect(levels(pcm).every((level) => level === 1)).toBe(true)
  })

  it('computes the mono mix and 8 bits as C does: toward zero', () => {
    const pcm = measure([-255, -256, 511, 512, -3, 0], 2)
    expect([pcm.min[0], pcm.max[0]]).toEqual([-255, 511])
    expect(waveform(pcm, 8000)).toMatchObject({ samples_per_pixel: 16, length: 1, data: [0, 1] })
  })
})

describe('levels', () => {
  it('of fewer samples than levels repeat', () => {
    const result = levels(measure([1000, 1000, 1000]))
    expect(result).toHaveLength(320)
    expect(new Set(result)).toEqual(new Set([1]))
  })

  it('of noise below -70 dB are silence', () => {
    expect(new Set(levels(measure(Array.from({ length: 5000 }, (_, i) => (i % 3) - 1))))).toEqual(new Set([0]))
  })

  it('of nothing are zeros', () => {
    expect(new Set(levels(measure([])))).toEqual(new Set([0]))
  })
})

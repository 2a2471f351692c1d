import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { decode } from '../support/audio.ts'
import { sample, sine } from '../support/signal.ts'
import { wavFile } from '../support/wav.ts'
import { type Measuring, startMeasuring } from './measuring.ts'

/** A track that begins in the middle of a sound, as the next one of an album does. */

let measuring: Measuring

beforeAll(async () => {
  measuring = await startMeasuring()
})
afterAll(() => measuring.stop())

const AAC_FRAME = 1024
const peakOf = (samples: Int16Array) => Math.max(...samples.subarray(0, 2 * AAC_FRAME).map(Math.abs))

// `-aac_coder twoloop`, the default of ffmpeg 5 and later, makes the last two 2 and 4 dB too loud.
describe.each([
  [220, 220, 90],
  [997, 997, 30],
  [4000, 4000, 60],
  [300, 997, 45],
])('of sines of %d and %d Hz that are cut at %d degrees', (left, right, degrees) => {
  it.each([44_100, 48_000])('AAC has the peak of the source from its first frame on, at %d Hz', async (rate) => {
    const waves = [sine(left, 0.5, degrees), sine(right, 0.5, degrees)]
    const source = wavFile(sample(waves, { rate, seconds: 0.5, bits: 16 }))
    const { file } = await measuring.make(source, ['aac-160'])
    const decibels = 20 * Math.log10(peakOf(await decode(file('aac-160'))) / peakOf(await decode(source)))
    expect(Math.abs(decibels), `${decibels.toFixed(2)} dB`).toBeLessThanOrEqual(1)
  })
})

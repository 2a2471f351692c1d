import { afterAll, describe, expect, it } from 'vitest'

import { silenceAtEnds } from '../../container/audio/measure/duration.ts'
import { createPcmMeter } from '../../container/audio/measure/levels.ts'
import { wavFile } from '../support/wav.ts'
import { startMeasuring } from './measuring.ts'
import { sharedService } from './shared.ts'

/** Tests the silence at the start and the end: all samples before the first and after the last one that exceeds -60 dBFS in any channel. */

const measuring = await startMeasuring(await sharedService())
afterAll(() => measuring.stop())

const RATE = 48000
/** The lowest 16-bit sample value above -60 dBFS, and the highest value below -60 dBFS. */
const [AUDIBLE, INAUDIBLE] = [33, 32]

/** Returns the reported silence of 2 s of audio: `sounds` maps frames to sample values, and all other samples are `floor`. */
async function silenceOf(sounds: Record<number, number>, { channel = 0, floor = 0 } = {}) {
  const channels = [0, 1].map((place) => {
    const samples = new Int32Array(2 * RATE).fill(floor)
    if (place === channel) for (const [frame, value] of Object.entries(sounds)) samples[Number(frame)] = value
    return samples
  })
  const { result, json } = await measuring.make(wavFile({ rate: RATE, bits: 16, channels }), ['analysis'])
  expect(result.info.silence).toEqual(json('analysis').silence)
  return json('analysis').silence
}

describe('silence at the start and the end', () => {
  it('lasts until the first audible sample and resumes after the last one', async () => {
    expect(await silenceOf({ 12000: 9000, 48000: -9000, 71999: 9000 })).toEqual({ start: 0.25, end: 0.5 })
  })

  it('is measured to the exact frame, in either channel and for either sign', async () => {
    expect(await silenceOf({ 48: AUDIBLE, 95951: -AUDIBLE }, { channel: 1 })).toEqual({ start: 0.001, end: 0.001 })
  })

  it('is zero when the first and the last sample are audible', async () => {
    expect(await silenceOf({ 0: -32768, 95999: 32767 })).toEqual({ start: 0, end: 0 })
  })

  it('includes noise at -60 dBFS', async () => {
    const sounds = { 24000: AUDIBLE, 72000: -AUDIBLE }
    expect(await silenceOf(sounds, { floor: INAUDIBLE })).toEqual({ start: 0.5, end: 0.5 })
    expect(await silenceOf(sounds, { floor: -INAUDIBLE })).toEqual({ start: 0.5, end: 0.5 })
  })

  it('is the whole duration when nothing is audible', async () => {
    expect(await silenceOf({})).toEqual({ start: 2, end: 2 })
    expect(await silenceOf({ 100: INAUDIBLE }, { floor: -INAUDIBLE })).toEqual({ start: 2, end: 2 })
  })

  it('includes neither the padding of the encoder nor the ringing in that padding', () => {
    const meter = createPcmMeter(1)
    const samples = new Int16Array(RATE + 700)
    samples.fill(9000, 480, RATE - 480)
    meter.add(Buffer.from(samples.buffer))
    expect(silenceAtEnds(meter.summary(), RATE, 1)).toEqual({ start: 0.01, end: 0.01 })
    meter.add(Buffer.from(Int16Array.of(9000).buffer))
    expect(silenceAtEnds(meter.summary(), RATE, 1)).toEqual({ start: 0.01, end: 0 })
  })
})

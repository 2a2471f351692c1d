import { createHash } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { ffmpeg, formats } from '../support/audio.ts'
import type { Pcm } from '../support/signal.ts'
import { waveformCases } from '../support/signal_waveforms.ts'
import { wavFile } from '../support/wav.ts'
import { type Measuring, startMeasuring } from './measuring.ts'

let measuring: Measuring

beforeAll(async () => {
  measuring = await startMeasuring()
})
afterAll(() => measuring.stop())

async function waveformOf(source: Buffer) {
  const { json } = await measuring.make(source, ['waveform'])
  const { data, ...rest } = json('waveform')
  const { samples_per_pixel, length } = rest
  const sha256 = createHash('sha256').update(data.join(',')).digest('hex')
  return { rest, count: data.length, numbers: { samples_per_pixel, length, head: data.slice(0, 12), sha256 } }
}

function headOf({ rate }: Pcm) {
  return { version: 2, channels: 1, sample_rate: rate, bits: 8 }
}

describe('the waveform is number for number that of BBC audiowaveform', () => {
  it.each(waveformCases)('$name', async ({ pcm, expected }) => {
    const signal = pcm()
    const found = await waveformOf(wavFile(signal))
    expect(found.numbers).toEqual(expected)
    expect(found.rest).toMatchObject(headOf(signal))
    expect(found.count).toBe(2 * expected.length)
  })

  it.each(['stereo, 16 bit', '5.1, 16 bit'])('%s, in FLAC', async (name) => {
    const { pcm, expected } = waveformCases.find((one) => one.name === name)!
    const flac = await ffmpeg(['-i', 'in', ...formats.flac], { in: wavFile(pcm()) })
    expect((await waveformOf(flac)).numbers).toEqual(expected)
  })
})

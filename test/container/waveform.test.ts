import { createHash } from 'node:crypto'

import { afterAll, describe, expect, it } from 'vitest'

import { createPcmMeter } from '../../container/audio/measure/levels.ts'
import { waveform } from '../../container/audio/measure/waveform.ts'
import { ffmpeg, formats } from '../support/audio.ts'
import type { Pcm } from '../support/signal.ts'
import { waveformCases } from '../support/signal_waveforms.ts'
import { wavFile } from '../support/wav.ts'
import { startMeasuring } from './measuring.ts'
import { sharedService } from './shared.ts'

const measuring = await startMeasuring(await sharedService())
afterAll(() => measuring.stop())

async function waveformOf(source: Buffer) {
  const { json } = await measuring.make(source, ['waveform'])
  return numbersOf(json('waveform'))
}

function numbersOf({ data, ...header }: ReturnType<typeof waveform>) {
  const { samples_per_pixel, length } = header
  const sha256 = createHash('sha256').update(data.join(',')).digest('hex')
  return { header, count: data.length, numbers: { samples_per_pixel, length, head: data.slice(0, 12), sha256 } }
}

function headOf({ rate }: Pcm) {
  return { version: 2, channels: 1, sample_rate: rate, bits: 8 }
}

/** The cases are split because the service computes the waveform of more than two channels from their downmix (downmix.test.ts). */
const [upToStereo, multichannel] = [true, false].map((isUpToStereo) =>
  waveformCases.filter(({ pcm }) => pcm().channels.length <= 2 === isUpToStereo),
)

describe('waveform identical to BBC audiowaveform', () => {
  it.each(upToStereo!)('$name', async ({ pcm, expected }) => {
    const signal = pcm()
    const found = await waveformOf(wavFile(signal))
    expect(found.numbers).toEqual(expected)
    expect(found.header).toMatchObject(headOf(signal))
    expect(found.count).toBe(2 * expected.length)
  })

  it.each(upToStereo!.filter(({ name }) => name === 'stereo, 16 bit'))('$name, as FLAC', async ({ pcm, expected }) => {
    const flac = await ffmpeg(['-i', 'in', ...formats.flac], { in: wavFile(pcm()) })
    expect((await waveformOf(flac)).numbers).toEqual(expected)
  })

  it.each(multichannel!)('$name, from the meter alone', ({ pcm, expected }) => {
    const { rate, channels } = pcm()
    const frames = channels[0]!.length
    const samples = Int16Array.from(
      { length: frames * channels.length },
      (_, i) => channels[i % channels.length]![Math.floor(i / channels.length)]!,
    )
    const meter = createPcmMeter(channels.length)
    meter.add(Buffer.from(samples.buffer))
    expect(numbersOf(waveform(meter.summary(), rate)).numbers).toEqual(expected)
  })
})

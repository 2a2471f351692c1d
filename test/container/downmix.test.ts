import { describe, expect, it } from 'vitest'

import type { JobVariant } from '../../src/contract/job.ts'
import { decode, ffmpeg, makeAudio, probeAudio, tone } from '../support/audio.ts'
import { type Level, levelOf } from '../support/loudness.ts'
import { amplitude, chirps, lagOf, sample, silence, sine, type Wave } from '../support/signal.ts'
import { wavFile } from '../support/wav.ts'
import { newJob, succeed } from './service.ts'
import { shareService } from './shared.ts'

/** The downmix of multichannel audio to stereo and mono. It has the same level and position in every codec and never exceeds full scale. */

const { storage, service } = await shareService()

const TYPES = { aac: 'audio/mp4', mp3: 'audio/mpeg', opus: 'audio/webm', flac: 'audio/flac' }
const CODECS = Object.keys(TYPES) as (keyof typeof TYPES)[]

/** Runs a job with every default variant, plus a custom variant with `channels` channels for each codec. */
async function make(source: Buffer, channels: 1 | 2, wanted: (index: string) => boolean = () => true) {
  const job = newJob(storage, storage.serve(`source-${storage.requests.length}`, source))
  const customVariants = CODECS.map((codec): JobVariant => {
    const index = `own-${codec}`
    const url = storage.url(`${job.job_id}/${index}`)
    const bitrate = codec === 'flac' ? 0 : 128
    return { index, url, content_type: TYPES[codec], kind: 'audio', codec, bitrate, channels }
  })
  job.variants = [...job.variants, ...customVariants].filter(({ index }) => wanted(index))
  const { result, fallback } = await succeed(service, job)
  expect([fallback, result.failed]).toEqual([undefined, []])
  const file = (index: string) => storage.files.get(`${job.job_id}/${index}`)!
  return { result, file }
}

const EQUAL_LU = 0.5
/** Maximum difference from the level that `analysis` reports: half of `EQUAL_LU`, plus 0.1 for rounding. */
const MEASURED_LU = 0.6

function expectEqual(levels: Record<string, Level>, measured: number) {
  const seen = JSON.stringify({ measured, ...levels })
  const loudness = Object.values(levels).map(({ lufs }) => lufs)
  expect(Math.max(...loudness) - Math.min(...loudness), seen).toBeLessThanOrEqual(EQUAL_LU)
  for (const lufs of loudness) expect(Math.abs(lufs - measured), seen).toBeLessThanOrEqual(MEASURED_LU)
}

async function levelsOf(files: [string, Buffer][]): Promise<Record<string, Level>> {
  const levels: Record<string, Level> = {}
  for (const [index, file] of files) levels[index] = await levelOf(file)
  return levels
}

/**
 * Returns one chord per channel; no two channels have a tone in common. The chords fade in, because the first frame of
 * AAC may be too loud (docs/decisions/0060).
 */
const chords = (count: number, peak: number): Wave[] =>
  Array.from({ length: count }, (_, channel) => {
    const tones = [1, 2.7, 5.3].map((step) => sine((220 + 37 * channel) * step, peak / 3, 40 * channel))
    return (seconds) => Math.min(1, seconds / 0.05) * tones.reduce((sum, tone) => sum + tone(seconds), 0)
  })

/**
 * Each layout has a name, a speaker mask (Microsoft, WAVEFORMATEXTENSIBLE; 0 means unknown), the number of channels,
 * the sample rate in Hz, and the bits per sample.
 */
const LAYOUTS: [name: string, mask: number, count: number, rate: number, bits: 16 | 24][] = [
  ['5.1', 0x3f, 6, 48_000, 16],
  ['7.1', 0x63f, 8, 96_000, 24],
  ['quad', 0x33, 4, 44_100, 24],
  ['3.0', 0x7, 3, 44_100, 16],
  ['hexagonal', 0x137, 6, 48_000, 16],
  ['six channels of unknown positions', 0, 6, 48_000, 24],
]

describe.each(LAYOUTS)('downmix of %s', (_, mask, count, rate, bits) => {
  it('has the reported level in every file, and never exceeds full scale', async () => {
    const source = wavFile(sample(chords(count, 0.95), { rate, seconds: 2, bits }), mask)
    const { result, file } = await make(source, 2)
    const indexes = ['aac-160', 'mp3-128', 'opus-96', 'preview', ...CODECS.map((codec) => `own-${codec}`)]
    const levels = await levelsOf(indexes.map((index) => [index, file(index)]))
    const { integrated_lufs, true_peak_dbtp, sample_peak_dbfs, replaygain_track_gain } = result.info.loudness!
    // The preview is excluded because it fades in and out.
    const { preview, ...fullLength } = levels
    expectEqual(fullLength, integrated_lufs!)
    expect(Math.abs(preview!.lufs - levels['mp3-128']!.lufs)).toBeLessThanOrEqual(2)
    for (const [index, { peak }] of Object.entries(levels)) expect(peak, index).toBeLessThanOrEqual(0)
    expect(true_peak_dbtp).toBeLessThanOrEqual(0)
    expect(sample_peak_dbfs).toBeLessThanOrEqual(true_peak_dbtp! + 0.1)
    expect(replaygain_track_gain).toBeCloseTo(-18 - integrated_lufs!, 5)
    expect(await probeAudio(file('lossless'))).toMatchObject({ channels: count, rate })
    expect(await decode(file('lossless'))).toEqual(await decode(source))
  })
})

it('a preview has the same level as its track', async () => {
  const source = wavFile(sample(chords(6, 0.95), { rate: 48_000, seconds: 8, bits: 16 }))
  const { file } = await make(source, 2, (index) => ['preview', 'mp3-128', 'aac-160'].includes(index))
  // Measures the preview between its fades, and the same length of the full track.
  const part = async (index: string) =>
    levelOf(await ffmpeg(['-i', 'in', '-ss', '1', '-t', '3', '-f', 'wav'], { in: file(index) }))
  expectEqual({ preview: await part('preview'), aac: await part('aac-160') }, (await part('mp3-128')).lufs)
})

describe('mono from stereo', () => {
  it.each([
    ['the same in both channels', (wave: Wave) => [wave, wave]],
    ['on one side', (wave: Wave) => [wave, silence]],
  ])('is the mean of both channels in every codec if the signal is %s', async (_, place) => {
    const source = wavFile(sample(place(sine(1000, 0.9)), { rate: 44_100, seconds: 2, bits: 16 }))
    const { file } = await make(source, 1, (index) => index.startsWith('own') || index === 'analysis')
    const levels = await levelsOf(CODECS.map((codec) => [codec, file(`own-${codec}`)]))
    const mean = place(silence)[1] === silence && place(sine(1, 1))[1] === silence ? 0.45 : 0.9
    // A full-scale sine in both channels has -0.02 LUFS (EBU Tech 3341, case 1).
    expectEqual(levels, 20 * Math.log10(mean))
    for (const [codec, { peak }] of Object.entries(levels)) expect(peak, codec).toBeLessThanOrEqual(0)
  })
})

/** Amplitude of a tone in one of two interleaved channels. */
function amplitudeOf(samples: Int16Array, side: 0 | 1, hz: number, rate: number): number {
  let [sine, cosine] = [0, 0]
  for (let i = side; i < samples.length; i += 2) {
    const angle = (2 * Math.PI * hz * (i - side)) / 2 / rate
    sine += samples[i]! * Math.sin(angle)
    cosine += samples[i]! * Math.cos(angle)
  }
  return (4 * Math.hypot(sine, cosine)) / samples.length / 32768
}

const H = Math.SQRT1_2
const [LEFT, RIGHT, CENTER, BACK, LOW] = [
  [1, 0],
  [0, 1],
  [H, H],
  [0.5, 0.5],
  [0, 0],
]
const [SIDE_LEFT, SIDE_RIGHT] = [
  [H, 0],
  [0, H],
]
const SIDES = [SIDE_LEFT, SIDE_RIGHT]

/**
 * The gains with which each channel is mixed into the left and the right output: those of ITU-R BS.775-4, table 2,
 * extended to channels that the table lacks.
 */
describe.each<[string, number, (number[] | undefined)[]]>([
  ['5.1', 0x3f, [LEFT, RIGHT, CENTER, LOW, ...SIDES]],
  ['5.1 with side speakers', 0x60f, [LEFT, RIGHT, CENTER, LOW, ...SIDES]],
  ['7.1', 0x63f, [LEFT, RIGHT, CENTER, LOW, ...SIDES, ...SIDES]],
  ['6.1', 0x70f, [LEFT, RIGHT, CENTER, LOW, BACK, ...SIDES]],
  ['quad', 0x33, [LEFT, RIGHT, ...SIDES]],
  ['2.1', 0xb, [LEFT, RIGHT, LOW]],
  ['3.0', 0x7, [LEFT, RIGHT, CENTER]],
  ['4.0', 0x107, [LEFT, RIGHT, CENTER, BACK]],
  ['hexagonal', 0x137, [LEFT, RIGHT, CENTER, ...SIDES, BACK]],
  ['octagonal', 0x737, [LEFT, RIGHT, CENTER, ...SIDES, BACK, ...SIDES]],
  ['with heights', 0x502f & ~0x20, [LEFT, RIGHT, CENTER, LOW, ...SIDES]],
  ['without a name', 0x10c, [CENTER, LOW, BACK]],
  ['three channels of unknown positions', 0, [LEFT, RIGHT, CENTER]],
  ['four channels of unknown positions', 0, [LEFT, RIGHT, ...SIDES]],
])('downmix matrix of %s', (_, mask, gains) => {
  it('matches the delivered stereo', async () => {
    const rate = 48_000
    const hz = (channel: number) => 400 + 200 * channel
    const waves = gains.map((_gain, channel) => sine(hz(channel), amplitude(-20)))
    const source = wavFile(sample(waves, { rate, seconds: 0.5, bits: 24 }), mask)
    const { file } = await make(source, 2, (index) => index === 'own-flac')
    const samples = await decode(file('own-flac'))
    const found = gains.map((_gain, channel) =>
      ([0, 1] as const).map((side) => amplitudeOf(samples, side, hz(channel), rate) / amplitude(-20)),
    )
    for (const [channel, gain] of gains.entries()) {
      for (const side of [0, 1] as const)
        expect(found[channel]![side], JSON.stringify(found)).toBeCloseTo(gain![side]!, 2)
    }
  })
})

describe('a downmix at any sample rate', () => {
  it.each([8000, 11_025, 44_100, 88_200, 192_000, 384_000])('keeps its length and position at %d Hz', async (rate) => {
    const wave = chirps(0.9)
    const source = wavFile(sample([wave, wave, wave, silence, wave, wave], { rate, seconds: 1.1234, bits: 16 }))
    const { result, file } = await make(source, 2, (index) => index === 'own-flac')
    const samples = await decode(file('own-flac'))
    expect(samples.length / 2).toBe(Math.round(1.1234 * rate))
    expect(result.duration).toBe(1.123)
    const left = samples.filter((_sample, i) => i % 2 === 0)
    expect([0.04, 0.54, 1.04].map((second) => lagOf(left, wave, rate, second, 2 * Math.ceil(rate / 100)))).toEqual([
      0, 0, 0,
    ])
  })
})

it('the levels and the waveform are computed from the delivered stereo', async () => {
  const source = wavFile(sample(chords(6, 0.3), { rate: 48_000, seconds: 1, bits: 16 }))
  const many = await make(source, 2, (index) => ['own-flac', 'waveform'].includes(index))
  const stereo = await make(many.file('own-flac'), 2, (index) => index === 'waveform')
  expect(many.file('waveform').toString()).toBe(stereo.file('waveform').toString())
  expect(many.result.levels).toEqual(stereo.result.levels)
  expect(many.result.info.loudness).toEqual(stereo.result.info.loudness)
})

describe('a source whose channel count changes halfway', () => {
  it.each([
    [6, 2],
    [2, 6],
  ] as const)('from %d to %d has the same level and length in every codec', async (first, second) => {
    const part = (channels: 2 | 6) =>
      makeAudio('ac3', { seconds: 1, rate: 48_000, channels, expression: tone(440, -8) })
    const source = Buffer.concat([await part(first), await part(second)])
    const { result, file } = await make(source, 2, (index) => /^(?:aac|mp3|opus|own-)/.test(index))
    const indexes = result.variants.map(({ index }) => index).filter((index) => index !== 'own-flac')
    const levels = await levelsOf(indexes.map((index) => [index, file(index)]))
    const loudness = Object.values(levels).map(({ lufs }) => lufs)
    expect(Math.max(...loudness) - Math.min(...loudness), JSON.stringify(levels)).toBeLessThanOrEqual(EQUAL_LU)
    for (const [index, { peak }] of Object.entries(levels)) expect(peak, index).toBeLessThanOrEqual(0)
    for (const index of indexes) {
      const { duration } = await probeAudio(file(index))
      expect(Math.abs(duration - result.duration), `${index} lasts ${duration} s`).toBeLessThan(0.05)
    }
    expect(Math.abs(result.duration - 2)).toBeLessThan(0.05)
  })
})

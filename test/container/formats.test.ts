import { describe, expect, it } from 'vitest'

import type { JobVariant } from '../../src/contract/job.ts'
import { decode, type Format, makeAudio, noise, probeAudio } from '../support/audio.ts'
import { noiseWav } from '../support/wav.ts'
import { newJob, succeed } from './service.ts'
import { shareService } from './shared.ts'

const { storage, service } = await shareService()

const SECONDS = 1.5

/**
 * The properties of each source; `slack` is the maximum error of its decoded length in seconds. files.test.ts covers all formats with fewer variants.
 */
const SOURCES: [Format, { codec: string; lossless: boolean; slack: number }][] = [
  ['wav24', { codec: 'pcm_s24le', lossless: true, slack: 0 }],
  ['alac', { codec: 'alac', lossless: true, slack: 0 }],
  ['mp3', { codec: 'mp3', lossless: false, slack: 0.03 }],
  ['adts', { codec: 'aac', lossless: false, slack: 0.08 }],
  ['webm', { codec: 'opus', lossless: false, slack: 0.03 }],
]

describe.each(SOURCES)('a source in %s', (format, { codec, lossless, slack }) => {
  it('is converted into every variant of the catalog, and each variant can be decoded and has the correct length', async () => {
    const source = await makeAudio(format, { seconds: SECONDS, expression: noise })
    const job = newJob(storage, storage.serve(format, source))
    const { result, fallback } = await succeed(service, job)

    expect(fallback).toBeUndefined()
    expect(result.failed).toEqual([])
    expect(result.warnings).toEqual([])
    expect(Math.abs(result.duration - SECONDS)).toBeLessThanOrEqual(slack + 0.0005)
    expect(result.levels).toHaveLength(320)
    expect(result.info).toMatchObject({ codec, lossless, channels: 2, size: source.length, has_cover: false })
    expect(result.skipped.map((variant) => variant.index)).toEqual(lossless ? [] : ['lossless'])

    const expected = {
      'aac-160': 'aac',
      'mp3-128': 'mp3',
      'opus-96': 'opus',
      preview: 'mp3',
      ...(lossless && { lossless: 'flac' }),
    }
    const files = Object.fromEntries(result.variants.map((variant) => [variant.index, variant]))
    expect(Object.keys(files).toSorted()).toEqual([...Object.keys(expected), 'analysis', 'waveform'].toSorted())
    for (const [index, expectedCodec] of Object.entries(expected)) {
      const file = storage.files.get(`${job.job_id}/${index}`)!
      const found = await probeAudio(file)
      expect(file.length, index).toBe(files[index]!.size)
      expect(found, index).toMatchObject({ codec: expectedCodec, channels: 2 })
      expect(Math.abs(found.duration - SECONDS), `${index} lasts ${found.duration}`).toBeLessThan(0.12)
    }
    const puts = Object.fromEntries(
      storage.requests.filter((r) => r.path.startsWith(job.job_id)).map((r) => [r.path, r]),
    )
    const cache = 'private, max-age=31536000, immutable'
    for (const variant of job.variants) {
      if (files[variant.index])
        expect(puts[`${job.job_id}/${variant.index}`]).toMatchObject({ type: variant.content_type, cache })
    }
  })
})

describe('lossless sources', () => {
  it.each([
    [48_000, 0.05],
    [44_100, 0.06],
    [8000, 0.2],
    [192_000, 0.05],
  ])('of at most 4,096 frames are converted into every variant: %d Hz, %d s', async (rate, seconds) => {
    const job = newJob(storage, storage.serve(`short-${rate}`, await makeAudio('wav', { seconds, rate })))
    const { result } = await succeed(service, job)
    expect([result.failed, result.skipped, result.warnings]).toEqual([[], [], []])
    expect(result.variants.length).toBe(job.variants.length)
    expect(result.duration).toBe(seconds)
  })

  it('keep every sample in FLAC', async () => {
    const source = await makeAudio('wav', { seconds: 1, rate: 48000, expression: noise })
    const job = newJob(storage, storage.serve('samples', source))
    await succeed(service, job)
    const flac = storage.files.get(`${job.job_id}/lossless`)!
    expect(await decode(flac)).toEqual(await decode(source))
    expect(await probeAudio(flac)).toMatchObject({ bits: 16, rate: 48000 })
  })

  it('keep 24 bits and their sample rate only in FLAC', async () => {
    const source = await makeAudio('wav24', { seconds: 1, rate: 96000, expression: noise })
    const job = newJob(storage, storage.serve('hires', source))
    const { result } = await succeed(service, job)
    expect(result.info).toMatchObject({ bit_depth: 24, sample_rate: 96000 })
    const at = (index: string) => probeAudio(storage.files.get(`${job.job_id}/${index}`)!)
    expect(await at('lossless')).toMatchObject({ bits: 24, rate: 96000 })
    expect(await at('aac-160')).toMatchObject({ rate: 48000 })
    expect(await at('mp3-128')).toMatchObject({ rate: 48000 })
  })

  it('with six channels are mixed to stereo in lossy variants and stay unchanged in FLAC', async () => {
    const source = await makeAudio('wav', { seconds: 1, channels: 6 })
    const job = newJob(storage, storage.serve('surround', source))
    const { result } = await succeed(service, job)
    expect(result.info).toMatchObject({ channels: 6 })
    const at = (index: string) => probeAudio(storage.files.get(`${job.job_id}/${index}`)!)
    expect(await at('lossless')).toMatchObject({ channels: 6 })
    expect(await at('aac-160')).toMatchObject({ channels: 2 })
  })

  it.each([
    [48_000, 8],
    [192_000, 8],
    [384_000, 2],
  ])('at %d Hz with %d channels result in a FLAC in which ffmpeg can seek', async (rate, channels) => {
    const job = newJob(storage, storage.serve(`wide-${rate}-${channels}`, noiseWav(rate, 2, 24, channels)))
    const { result } = await succeed(service, job)
    expect(result.failed).toEqual([])
  })
})

describe('lossy sources', () => {
  it('never result in a higher bitrate than their own', async () => {
    const source = await makeAudio('mp3', { seconds: 4, channels: 1, expression: noise }, ['-b:a', '40k'])
    const job = newJob(storage, storage.serve('narrow', source))
    const { result } = await succeed(service, job)
    const bitrates = Object.fromEntries(result.variants.map((variant) => [variant.index, variant.bitrate]))
    expect(bitrates).toMatchObject({ 'aac-160': 40, 'mp3-128': 40, 'opus-96': 40 })
    for (const index of ['aac-160', 'mp3-128', 'opus-96']) {
      const found = await probeAudio(storage.files.get(`${job.job_id}/${index}`)!)
      expect(found.channels).toBe(1)
      expect(found.bitrate, `${index} has ${found.bitrate} kbit/s`).toBeLessThan(46)
    }
  })
})

describe('Opus of a low bitrate', () => {
  // A rising tone, which libopus encodes in SILK frames at these bitrates.
  const SWEEP = '0.8*sin(2*PI*(100*t+1500*t*t))'
  const WINDOW = 0.04

  it.each([
    ['mono', 1, '32k'],
    ['mono', 1, '36k'],
    ['stereo', 2, '48k'],
  ] as const)('has the level of its source: %s, %s channels, %s', async (_, channels, bitrate) => {
    const signal = { seconds: 1, rate: 48_000, channels, expression: SWEEP }
    const source = await makeAudio('opus', signal, ['-application', 'voip', '-b:a', bitrate])
    const job = newJob(storage, storage.serve(`low-${channels}-${bitrate}`, source))
    job.variants = job.variants.filter(({ index }) => index === 'mp3-128')
    await succeed(service, job)
    const [original, decoded] = [
      await decode(await makeAudio('wav', signal)),
      await decode(storage.files.get(`${job.job_id}/mp3-128`)!),
    ]
    const frames = WINDOW * 48_000 * channels
    for (let at = 2 * frames; at + frames < original.length; at += frames) {
      const level = (samples: Int16Array) =>
        10 * Math.log10(samples.subarray(at, at + frames).reduce((sum, sample) => sum + sample ** 2, 0) / frames)
      expect(Math.abs(level(decoded) - level(original)), `${at / 48_000 / channels} s`).toBeLessThan(1)
    }
  })
})

describe('a preview', () => {
  it('is an excerpt from the middle that fades in and out', async () => {
    const source = await makeAudio('wav', { seconds: 6 })
    const job = newJob(storage, storage.serve('long', source))
    job.variants = job.variants.filter((variant) => variant.index !== 'opus-96' && variant.index !== 'aac-160')
    job.variants = job.variants.map((variant) =>
      variant.kind === 'preview' ? { ...variant, start: 2, length: 2 } : variant,
    )
    const { result } = await succeed(service, job)
    expect(result.variants.find((variant) => variant.index === 'preview')?.duration).toBe(2)
    const samples = await decode(storage.files.get(`${job.job_id}/preview`)!)
    expect(Math.abs(samples.length / 2 / 44100 - 2)).toBeLessThan(0.06)
    const loudest = (from: number, to: number) =>
      Math.max(...samples.subarray(Math.floor(from * 88200), Math.floor(to * 88200)).map(Math.abs))
    expect(loudest(1.95, 2)).toBeLessThan(loudest(0.5, 1) / 4)
  })

  it.each([
    ['starts after the end of a source of unknown length', 'adts', 45, 2],
    ['starts at a very small number', 'wav', 1e-7, 2],
    ['is longer than the source', 'mp3', 1, 30],
  ] as const)('that %s is fitted into the source', async (_, format, start, length) => {
    const job = newJob(storage, storage.serve(`${format}-${start}`, await makeAudio(format, { seconds: 4 })))
    job.variants = job.variants
      .filter(({ kind }) => kind === 'preview')
      .map((variant) => ({ ...variant, start, length }) as JobVariant)
    const { result, fallback } = await succeed(service, job)
    expect([fallback, result.failed, result.warnings]).toEqual([undefined, [], []])
    const long = Math.min(length, result.duration)
    expect(Math.abs(result.variants[0]!.duration - long)).toBeLessThan(0.1)
    const { duration } = await probeAudio(storage.files.get(`${job.job_id}/preview`)!)
    expect(Math.abs(duration - long)).toBeLessThan(0.12)
  })
})

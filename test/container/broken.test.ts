import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import type { TranscodeJob } from '../../src/contract/job.ts'
import {
  corrupt,
  ffmpeg,
  lavfi,
  makeAudio,
  makeImage,
  noise,
  probeAudio,
  streamedWav,
  truncate,
  withCover,
} from '../support/audio.ts'
import { lightVariants, newJob, runJob, type Service, startService, succeed } from './service.ts'
import { startStorage, type Storage } from './storage.ts'

let storage: Storage
let service: Service

beforeAll(async () => {
  storage = await startStorage()
  service = await startService()
})

afterAll(async () => {
  await service.stop()
  await storage.close()
})

function light(bytes: Buffer, changes: Partial<TranscodeJob> = {}): TranscodeJob {
  const job = newJob(storage, storage.serve(`source-${storage.requests.length}`, bytes), changes)
  return { ...job, variants: lightVariants(storage, job.job_id) }
}

describe('a file that is no audio', () => {
  it.each([
    ['nothing at all', 'empty_file', async () => Buffer.alloc(0)],
    ['text', 'text_file', async () => Buffer.from('Dear ffmpeg, please read on.\n')],
    ['a web page', 'text_file', async () => Buffer.from('<!doctype html><title>Not found</title>')],
    ['an HLS playlist', 'playlist_file', async () => Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n')],
    ['a concat script', 'playlist_file', async () => Buffer.from("ffconcat version 1.0\nfile 'src'\n")],
    ['an image', 'image_file', () => makeImage('png')],
    ['an AVIF image', 'image_file', () => makeImage('avif')],
    ['a ZIP archive', 'archive_file', async () => Buffer.from('PK\x03\x04 and so on, for some more bytes')],
    [
      'random bytes',
      'unsupported_format',
      async () => Buffer.from(Array.from({ length: 50_000 }, (_, i) => (i * i * 7919) >> 5)),
    ],
    ['a video without sound', 'no_audio', () => ffmpeg(['-f', 'lavfi', '-i', 'color=s=64x64:d=0.2', '-f', 'matroska'])],
    [
      'an MP4 whose index is missing',
      'decode_failed',
      async () => truncate(await makeAudio('m4a', { seconds: 2 }), 0.8),
    ],
    ['a single sample', 'too_short', () => makeAudio('wav', { seconds: 1 / 44100 })],
    [
      'a FLAC header without audio',
      'decode_failed',
      async () => (await makeAudio('flac', { seconds: 1 })).subarray(0, 60),
    ],
  ])('%s fails with %s', async (_, code, make) => {
    const { error, result } = await runJob(service, light(await make()))
    expect(result).toBeUndefined()
    expect(error).toMatchObject({ code, retryable: false })
    expect(error?.message).toMatch(/^[A-Z].*\.$/)
  })

  it('too long for the job fails with too_long, however small its bytes are', async () => {
    const long = await ffmpeg([
      '-f',
      'lavfi',
      '-i',
      'anullsrc=r=8000:cl=mono',
      '-t',
      '300',
      '-c:a',
      'flac',
      '-f',
      'flac',
    ])
    const exact = await runJob(service, light(long, { max_duration: 290 }))
    expect(exact.error).toMatchObject({ code: 'too_long', retryable: false })
    const bomb = await runJob(service, light(long, { max_duration: 60 }))
    expect(bomb.error).toMatchObject({ code: 'too_long', retryable: false })
  })
})

describe('a damaged file', () => {
  it('FLAC with flipped bytes falls back and keeps most of its audio', async () => {
    const flac = await makeAudio('flac', { seconds: 6, expression: noise })
    const { result, fallback } = await succeed(service, light(corrupt(flac, 5)))
    expect(fallback).toBe('The strict pass met damaged audio.')
    expect(result.duration).toBeGreaterThan(3)
    expect(result.duration).toBeLessThanOrEqual(6)
    expect(result.info.pass).toBe('tolerant')
  })

  it('goes straight to the tolerant pass when the job says so', async () => {
    const flac = await makeAudio('flac', { seconds: 6, expression: noise })
    const { result, fallback } = await succeed(service, light(corrupt(flac, 5), { pass: 'tolerant' }))
    expect(fallback).toBeUndefined()
    expect(result.info.pass).toBe('tolerant')
  })

  it.each(['wav', 'flac', 'mp3', 'ogg', 'webm'] as const)(
    '%s cut in half yields the first half and a warning',
    async (format) => {
      const half = truncate(await makeAudio(format, { seconds: 6, expression: noise }), 0.5)
      const job = light(half)
      const { result } = await succeed(service, job)
      // Pages of Ogg are long.
      expect(Math.abs(result.duration - 3)).toBeLessThan(format === 'ogg' ? 1.1 : 0.35)
      // Ogg tells its length in the last page only, so there is nothing to compare with.
      const code = format === 'wav' ? 'truncated' : 'duration_mismatch'
      expect(result.warnings.map((warning) => warning.code)).toEqual(format === 'ogg' ? [] : [code])
      const made = await probeAudio(storage.files.get(`${job.job_id}/mp3-128`)!)
      expect(Math.abs(made.duration - result.duration)).toBeLessThan(0.1)
    },
  )

  it('MP3 with garbage in front is found', async () => {
    const mp3 = await makeAudio('mp3', { seconds: 3, expression: noise })
    const junk = Buffer.from(Array.from({ length: 20_000 }, (_, i) => (i * 31) % 200))
    const { result } = await succeed(service, light(Buffer.concat([junk, mp3])))
    expect(Math.abs(result.duration - 3)).toBeLessThan(0.1)
  })
})

describe('two MP3s of different format glued together', () => {
  it('play one after the other, with a warning that only the last part was measured', async () => {
    const first = await makeAudio('mp3', { seconds: 2, rate: 48000, channels: 1, expression: noise })
    const second = await makeAudio('mp3', { seconds: 2, rate: 44100, channels: 2 })
    const { result } = await succeed(service, light(Buffer.concat([first, second])))
    expect(Math.abs(result.duration - 4)).toBeLessThan(0.15)
    expect(result.warnings.map((warning) => warning.code)).toContain('format_changed')
  })
})

describe('a WAV that a recorder wrote to a pipe', () => {
  it.each([0, 0xffffffff] as const)('with length %i is no damage', async (placeholder) => {
    const wav = await makeAudio('wav', { seconds: 2, expression: noise })
    const { result, fallback } = await succeed(service, light(streamedWav(wav, placeholder)))
    expect(fallback).toBeUndefined()
    expect(result.warnings).toEqual([])
    expect(Math.abs(result.duration - 2)).toBeLessThan(0.05)
  })
})

describe('an encoder that refuses', () => {
  it('does not cost the other variants', async () => {
    // FLAC cannot express this sample rate.
    const wav = await makeAudio('wav', { seconds: 1, rate: 700_000, channels: 1 })
    const job = newJob(storage, storage.serve('odd', wav))
    const { result, fallback } = await succeed(service, job)
    expect(fallback).toBeUndefined()
    expect(result.failed).toMatchObject([{ index: 'lossless' }])
    expect(result.variants.map((variant) => variant.index)).toEqual([
      'aac-160',
      'mp3-128',
      'opus-96',
      'preview',
      'waveform',
      'analysis',
    ])
  })
})

describe('what surrounds the audio', () => {
  it('tags and chapters are limited, and kept out of the variants', async () => {
    const many = Array.from({ length: 100 }, (_, i) => ['-metadata', `tag${i}=x`]).flat()
    const tags = ['-metadata', 'title=A "quoted" title\n', '-metadata', `comment=${'long '.repeat(1000)}`, ...many]
    const job = light(await ffmpeg([...lavfi({ seconds: 1 }), '-c:a', 'flac', ...tags, '-f', 'flac']))
    const { result } = await succeed(service, job)
    const found = result.info.tags as Record<string, string>
    expect(Object.keys(found).length).toBeLessThanOrEqual(64)
    expect(Math.max(...Object.values(found).map((value) => value.length))).toBeLessThanOrEqual(1024)
    expect(storage.files.get(`${job.job_id}/mp3-128`)!.includes('quoted')).toBe(false)
  })

  it.each(['mp3', 'm4a', 'flac'] as const)('the embedded cover of %s is taken out', async (format) => {
    const audio = await withCover(format, await makeAudio(format, { seconds: 1 }), await makeImage('jpeg'))
    const outputs = {
      icon: storage.url('art/icon'),
      small: storage.url('art/small'),
      regular: storage.url('art/regular'),
    }
    storage.files.clear()
    const { result } = await succeed(service, light(audio, { cover: outputs }))
    expect(result.info.has_cover).toBe(true)
    expect(result.warnings).toEqual([])
    expect(result.cover?.image_colors.length).toBeGreaterThanOrEqual(2)
    for (const name of ['icon', 'small', 'regular']) expect(storage.files.has(`art/${name}`), name).toBe(true)
  })

  it('a cover bomb and a cover that cannot be uploaded are only warnings', async () => {
    const bomb = await makeImage('png', 8000, 5200)
    const audio = await withCover('mp3', await makeAudio('mp3', { seconds: 1 }), bomb)
    const outputs = { icon: storage.url('x/icon'), small: storage.url('x/small'), regular: storage.url('x/regular') }
    const { result } = await succeed(service, light(audio, { cover: outputs }))
    expect(result.cover).toBeNull()
    expect(result.warnings).toMatchObject([{ code: 'cover_failed', message: 'The image has more than 40 megapixels.' }])

    const good = await withCover('mp3', await makeAudio('mp3', { seconds: 1 }), await makeImage('jpeg'))
    storage.refuse('x/icon', 403)
    const refused = await succeed(service, light(good, { cover: outputs }))
    expect(refused.result.warnings).toMatchObject([{ code: 'cover_failed' }])
  })
})

it('leaves no file behind, whatever went wrong', async () => {
  expect(await service.leftovers()).toEqual([])
})

import { describe, expect, it } from 'vitest'

import type { JobVariant, TranscodeJob } from '../../src/contract/job.ts'
import { corrupt, ffmpeg, lavfi, makeAudio, makeImage, noise, withCover } from '../support/audio.ts'
import { lightVariants, newJob, runJob, succeed } from './service.ts'
import { shareService } from './shared.ts'

const { storage, service } = await shareService()

function light(bytes: Buffer, changes: Partial<TranscodeJob> = {}): TranscodeJob {
  const job = newJob(storage, storage.serve(`source-${storage.requests.length}`, bytes), changes)
  return { ...job, variants: lightVariants(storage, job.job_id) }
}

it('a job fails with too_long if its file is small but its audio is longer than the job allows', async () => {
  const long = await ffmpeg('-f lavfi -i anullsrc=r=8000:cl=mono -t 300 -c:a flac -f flac'.split(' '))
  const exact = await runJob(service, light(long, { max_duration: 290 }))
  expect(exact.error).toMatchObject({ code: 'too_long', retryable: false })
  const bomb = await runJob(service, light(long, { max_duration: 60 }))
  expect(bomb.error).toMatchObject({ code: 'too_long', retryable: false })
})

describe('a damaged file', () => {
  it('keeps most of its audio in the tolerant pass if it is a FLAC with flipped bytes', async () => {
    const flac = await makeAudio('flac', { seconds: 6, expression: noise })
    const { result, fallback } = await succeed(service, light(corrupt(flac, 5)))
    expect(fallback).toBe('The strict pass met damaged audio.')
    expect(result.duration).toBeGreaterThan(3)
    expect(result.duration).toBeLessThanOrEqual(6)
    expect(result.info.pass).toBe('tolerant')
  })

  it('skips the strict pass if the job requests the tolerant one', async () => {
    const flac = await makeAudio('flac', { seconds: 6, expression: noise })
    const { result, fallback } = await succeed(service, light(corrupt(flac, 5), { pass: 'tolerant' }))
    expect(fallback).toBeUndefined()
    expect(result.info.pass).toBe('tolerant')
  })
})

describe('an encoder that rejects its settings', () => {
  it('does not affect the other variants', async () => {
    // libopus accepts at most 256 kbit/s for one channel.
    const job = newJob(storage, storage.serve('plain', await makeAudio('wav', { seconds: 1 })))
    const opus = job.variants.find(({ index }) => index === 'opus-96')!
    const impossible = { ...opus, bitrate: 320, channels: 1 } as JobVariant
    const encodable = job.variants.filter(({ index }) => index !== 'opus-96')
    job.variants = [...encodable, impossible]
    const { result, fallback } = await succeed(service, job)
    expect(fallback).toBeUndefined()
    expect(result.failed).toMatchObject([{ index: 'opus-96' }])
    expect(result.variants.map((variant) => variant.index)).toEqual([
      'aac-160',
      'mp3-128',
      'lossless',
      'preview',
      'waveform',
      'analysis',
    ])
  })
})

describe('metadata and covers', () => {
  it('contain at most 64 tags of 1,024 characters each, and the variants contain none of these tags', async () => {
    const many = Array.from({ length: 100 }, (_, i) => ['-metadata', `tag${i}=x`]).flat()
    const tags = ['-metadata', 'title=A "quoted" title\n', '-metadata', `comment=${'long '.repeat(1000)}`, ...many]
    const job = light(await ffmpeg([...lavfi({ seconds: 1 }), '-c:a', 'flac', ...tags, '-f', 'flac']))
    const { result } = await succeed(service, job)
    const found = result.info.tags as Record<string, string>
    expect(Object.keys(found).length).toBeLessThanOrEqual(64)
    expect(Math.max(...Object.values(found).map((value) => value.length))).toBeLessThanOrEqual(1024)
    expect(storage.files.get(`${job.job_id}/mp3-128`)!.includes('quoted')).toBe(false)
  })

  it.each([
    ['No space left on device', 'comment'],
    ['I: -5.0 LUFS', 'title'],
    ['    I:         -5.0 LUFS', 'I:         -5.0 LUFS'],
    ['  True peak:\n    Peak:       40.0 dBFS', 'title'],
    ['Error while decoding stream #0:0: Invalid data', 'title'],
    ['[aost#0:0/aac @ 0x1] Error while opening encoder', 'artist'],
  ])('are not mistaken for an ffmpeg message: %s', async (text, key) => {
    const tags = ['-metadata', `${key}=${text}`, '-metadata', 'album=True peak:']
    const source = await ffmpeg([...lavfi({ seconds: 1 }), '-c:a', 'flac', ...tags, '-f', 'flac'])
    const { result, fallback } = await succeed(service, light(source))
    expect([fallback, result.warnings]).toEqual([undefined, []])
    const { loudness } = result.info
    expect(Math.abs(loudness!.true_peak_dbtp! + 12)).toBeLessThan(0.3)
    expect(Math.abs(loudness!.integrated_lufs! + 12)).toBeLessThan(1.5)
  })

  it.each(['mp3', 'm4a', 'flac'] as const)('include the cover that is embedded in %s', async (format) => {
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

  it('cause only warnings if a cover is a decompression bomb or its upload fails', async () => {
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

it('the service leaves no file behind after failures', async () => {
  expect(await service.leftovers()).toEqual([])
})

import { describe, expect, it } from 'vitest'

import type { TranscodeJob } from '../../src/contract/job.ts'
import { ffmpeg, makeAudio, makeImage, withCover } from '../support/audio.ts'
import { flacBomb, matroskaOfTracks, mp4OfTracks, pngBomb, transportOfStreams } from './bombs.ts'
import { lightVariants, newJob, runJob, succeed } from './service.ts'
import { shareService } from './shared.ts'

const { storage, service } = await shareService()

let names = 0

function jobFor(bytes: Buffer, changes: Partial<TranscodeJob> = {}): TranscodeJob {
  const job = newJob(storage, storage.serve(`bomb-${names++}`, bytes), changes)
  return { ...job, variants: lightVariants(storage, job.job_id) }
}

describe('a small file that decodes to long silence', () => {
  const DAYS = 3 * 24 * 3600
  it.each([
    ['FLAC with its true length', 'strict', flacBomb(DAYS, 8000, DAYS * 8000)],
    ['FLAC without a length', 'strict', flacBomb(DAYS, 8000, 0)],
    ['FLAC without a length', 'tolerant', flacBomb(DAYS, 8000, 0)],
    ['FLAC with a length of one second', 'strict', flacBomb(DAYS, 8000, 8000)],
  ] as const)('is rejected as too_long: %s in the %s pass', async (_, pass, bytes) => {
    expect(bytes.length).toBeLessThan(1_000_000)
    const { error } = await runJob(service, jobFor(bytes, { pass }))
    expect(error).toMatchObject({ code: 'too_long', retryable: false })
  })

  it('is rejected as too_long if it is in Opus and three times as long as the limit', async () => {
    const silence = ['-f', 'lavfi', '-i', 'anullsrc=r=48000:cl=mono', '-t', '180']
    const bytes = await ffmpeg([...silence, '-c:a', 'libopus', '-b:a', '6k', '-frame_duration', '60', '-f', 'ogg'])
    expect(bytes.length).toBeLessThan(200_000)
    const { error } = await runJob(service, jobFor(bytes, { max_duration: 60 }))
    expect(error).toMatchObject({ code: 'too_long', retryable: false })
  })

  it('is accepted if it is in FLAC and shorter than the limit', async () => {
    const { result } = await succeed(service, jobFor(flacBomb(100, 8000, 0)))
    expect(result.duration).toBeCloseTo((13 * 65_535) / 8000, 2)
  })
})

describe('thousands of streams', () => {
  it.each([
    ['Matroska', async () => matroskaOfTracks(5000)],
    ['MP4', async () => mp4OfTracks(await makeAudio('m4a', { seconds: 1 }), 3000)],
    ['MPEG-TS', async () => transportOfStreams()],
  ])('in %s are reported as an error of the file', async (_, make) => {
    const { error } = await runJob(service, jobFor(await make()))
    expect(error).toMatchObject({
      code: expect.stringMatching(/^(too_many_streams|decode_failed)$/),
      retryable: false,
    })
  })
})

describe('an embedded cover', () => {
  it('is dropped with a warning if decoding it would need a gigabyte', async () => {
    const art = await makeImage('png')
    const song = await withCover('mp3', await makeAudio('mp3', { seconds: 1 }), art)
    const outputs = { icon: storage.url('b/icon'), small: storage.url('b/small'), regular: storage.url('b/regular') }
    const bytes = withPicture(song, art, pngBomb(16_000))
    const { result } = await succeed(service, jobFor(bytes, { cover: outputs }))
    expect(result.duration).toBeCloseTo(1, 1)
    expect(result.cover).toBeNull()
    expect(result.warnings).toMatchObject([{ code: 'cover_failed', message: 'The image has more than 40 megapixels.' }])
  })
})

/** Replaces an embedded picture with another of at most the same size. */
function withPicture(song: Buffer, before: Buffer, after: Buffer): Buffer {
  const changed = Buffer.from(song)
  const at = changed.indexOf(before)
  expect(at).toBeGreaterThan(0)
  expect(after.length).toBeLessThanOrEqual(before.length)
  changed.fill(0, at, at + before.length)
  after.copy(changed, at)
  return changed
}

/** Changes a WAV header field at its offset (Microsoft RIFF specification, WAVEFORMATEX). */
const wav = (change: (file: Buffer) => void) => async () => {
  const file = await makeAudio('wav', { seconds: 1 })
  change(file)
  return file
}

describe('implausible header fields', () => {
  it.each([
    ['sample rate of 4 GHz', wav((file) => file.writeUInt32LE(0xffffffff, 24))],
    ['sample rate of 0', wav((file) => file.writeUInt32LE(0, 24))],
    ['count of 65,535 channels', wav((file) => file.writeUInt16LE(0xffff, 22))],
    ['count of 0 channels', wav((file) => file.writeUInt16LE(0, 22))],
    ['count of 255 channels', wav((file) => file.writeUInt16LE(255, 22))],
    ['depth of 65,535 bits', wav((file) => file.writeUInt16LE(0xffff, 34))],
    ['format', wav((file) => file.writeUInt16LE(0x4242, 20))],
    ['FLAC rate of 0', async () => flacBomb(10, 0, 0)],
    ['timescale', async () => patched(await makeAudio('m4a', { seconds: 1 }), 'mdhd', 16, 0)],
    ['number of samples', async () => patched(await makeAudio('m4a', { seconds: 1 }), 'stsz', 12, 0xfffffff0)],
    ['number of chunks', async () => patched(await makeAudio('m4a', { seconds: 1 }), 'stco', 8, 0xfffffff0)],
  ])('never cause an internal error: %s', async (_, make) => {
    const { error, result } = await runJob(service, jobFor(await make()))
    if (result) expect(result.duration).toBeLessThanOrEqual(600)
    else
      expect(error).toMatchObject({
        code: expect.not.stringMatching(/internal|timed_out|upload|disk/),
        retryable: false,
      })
  })
})

function patched(file: Buffer, box: string, offset: number, value: number): Buffer {
  file.writeUInt32BE(value, file.indexOf(box) + offset)
  return file
}

it('the service leaves no file behind', async () => {
  expect(await service.leftovers()).toEqual([])
})

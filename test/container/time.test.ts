import { describe, expect, it } from 'vitest'

import { decode, ffmpeg, lavfi, makeAudio, probeAudio } from '../support/audio.ts'
import { movieTimes, webmTimes } from '../support/containers.ts'
import { TIMED } from '../support/corpus/timed.ts'
import { concatenate } from '../support/damage.ts'
import { newJob, succeed } from './service.ts'
import { shareService } from './shared.ts'

/** Sources whose sound starts late, or whose time stamps jump. Every output must start with the sound and have the same length. */

const { storage, service } = await shareService()

const PREVIEW = 1

async function make(name: string, source: Buffer) {
  const job = newJob(storage, storage.serve(encodeURIComponent(name), source))
  job.variants = job.variants.map((variant) => (variant.kind === 'preview' ? { ...variant, length: PREVIEW } : variant))
  const outcome = await succeed(service, job)
  return { ...outcome, file: (index: string) => storage.files.get(`${job.job_id}/${index}`)! }
}

/** Returns the seconds until the first sample above -30 dBFS, and the total length in seconds. */
async function audibleRange(file: Buffer) {
  const [samples, { rate, channels }] = [await decode(file), await probeAudio(file)]
  const first = samples.findIndex((sample) => Math.abs(sample) > 1000)
  return { start: Math.floor(first / channels) / rate, length: samples.length / channels / rate }
}

describe('all outputs start with the sound and have the same length', () => {
  it.each(TIMED.map((row) => [row.name, row] as const))('%s', async (name, row) => {
    const { result, file, fallback } = await make(name, await row.make())
    expect(result.failed).toEqual([])
    const codes = result.warnings.map(({ code }) => code)
    // Unlike other versions, ffmpeg 7.1 needs no second pass for a file that consists of two formats.
    if (row.fallback) expect(codes).toContain('format_changed')
    else expect([fallback, codes]).toEqual([undefined, row.warnings ?? []])
    const { duration } = result
    expect(Math.abs(duration - row.duration!), `lasts ${duration} s`).toBeLessThanOrEqual(row.tolerance!)
    // The tolerance is larger if the source changes its format, because encoders restart there.
    const slack = row.fallback ? 0.05 : 0.002

    for (const { index } of result.variants) {
      if (['analysis', 'waveform'].includes(index)) continue
      const expected = index === 'preview' ? Math.min(PREVIEW, duration) : duration
      const { start, length } = await audibleRange(file(index))
      expect(start, index).toBeLessThan(0.05)
      // ffmpeg before version 8 decodes the padding of AAC, but browsers stop where the edit list ends.
      const playedLength = index === 'aac-160' ? editedSeconds(file(index)) : length
      expect(Math.abs(playedLength - expected), `${index} lasts ${playedLength} of ${expected} s`).toBeLessThanOrEqual(
        slack,
      )
      if (index === 'opus-96') expect(webmTimes(file(index)).blocks[0]).toBe(0)
    }
    const waveform = JSON.parse(file('waveform').toString())
    const pixels = (duration * waveform.sample_rate) / waveform.samples_per_pixel
    expect(Math.abs(waveform.length - pixels)).toBeLessThan(2)
  })
})

function editedSeconds(file: Buffer): number {
  const { clock, edits } = movieTimes(file)
  expect(edits.map(({ from }) => from)).toEqual([1024])
  return edits[0]!.length / clock
}

describe('joined Ogg files with equal serial numbers', () => {
  const PIECES = 20
  const SECONDS = 0.5

  it.each(['ogg', 'opus'] as const)('last as long as their pieces, without gaps: %s', async (format) => {
    const piece = await makeAudio(format, { seconds: SECONDS, rate: 48_000 })
    const { result, file } = await make(`joined ${format}`, concatenate(...Array.from({ length: PIECES }, () => piece)))
    const version = Number(/^n?(\d+)\./.exec(result.info.ffmpeg ?? '')?.[1] ?? 0)
    // ffmpeg before version 5 keeps the padding of the last Vorbis frame, and decodes the headers of Opus as audio.
    const isOld = version < 5
    expect(Math.abs(result.duration - PIECES * SECONDS)).toBeLessThan(isOld ? 0.02 * PIECES : 0.005)
    expect(result.warnings.map(({ code }) => code)).toEqual(isOld && format === 'opus' ? ['damaged'] : [])
    expect(Math.min(...result.levels)).toBeGreaterThan(0.3)
    for (const index of ['mp3-128', 'opus-96']) {
      const { start, length } = await audibleRange(file(index))
      expect(start, index).toBeLessThan(0.05)
      expect(Math.abs(length - result.duration), index).toBeLessThan(0.002)
    }
  })
})

const CHAPTERS = [0, 2500, 3500].flatMap((start, i) => [
  '[CHAPTER]',
  'TIMEBASE=1/1000',
  `START=${start}`,
  `END=${start + 500}`,
  `title=${i}`,
])

describe('chapters', () => {
  it.each([
    [
      'of a video whose sound starts late',
      ['-f', 'lavfi', '-i', 'color=s=64x64:r=5:d=5'],
      ['-c:v', 'mpeg4', '-map', '2:v'],
    ],
    ['of sound that starts late', [], []],
  ])('%s are relative to the start of the sound', async (name, inputs, flags) => {
    const meta = Buffer.from([';FFMETADATA1', ...CHAPTERS].join('\n'))
    const sound = ['-itsoffset', '2', ...lavfi({ seconds: 2 })]
    const args = [...sound, '-i', 'meta', ...inputs, '-map_metadata', '1', '-map', '0:a', ...flags]
    const source = await ffmpeg([...args, '-c:a', 'flac', '-f', 'matroska'], { meta })
    const { result } = await make(name, source)
    expect(result.info.chapters?.map(({ start }) => Math.round(start * 1000))).toEqual([0, 500, 1500])
  })
})

describe('an M4A whose edit list ends before its sound', () => {
  it('plays up to the end of the edit list, or completely if the header is implausible', async () => {
    const source = await makeAudio('m4a', { seconds: 2 })
    const cut = Buffer.from(source)
    const [mdhd, elst] = [cut.indexOf('mdhd'), cut.indexOf('elst')]
    cut.writeUInt32BE(1100, elst + 12)
    const ended = await make('ended', cut)
    expect(ended.result.duration).toBe(1.1)
    expect((await audibleRange(ended.file('mp3-128'))).length).toBeCloseTo(1.1, 3)

    const wrong = Buffer.from(source)
    wrong.writeUInt32BE(44100, mdhd + 20)
    const unedited = await make('whole', wrong)
    expect(unedited.result.duration).toBeCloseTo(2, 1)
    expect((await audibleRange(unedited.file('mp3-128'))).length).toBeCloseTo(unedited.result.duration, 3)
  })
})

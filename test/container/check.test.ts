import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { findFaults, type WrittenFile } from '../../container/audio/check.ts'
import type { Encode } from '../../container/audio/plan.ts'
import type { AudioCodec } from '../../src/contract/facts.ts'
import { type Format, makeAudio, makeImage, tools, withCover } from '../support/audio.ts'

const SECONDS = 3
const FORMATS: Record<AudioCodec, Format> = { aac: 'm4a', mp3: 'mp3', opus: 'webm', flac: 'flac' }
const intact = {} as Record<AudioCodec, Buffer>
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tonearm-check-'))
  for (const [codec, format] of Object.entries(FORMATS) as [AudioCodec, Format][])
    intact[codec] = await makeAudio(format, { seconds: SECONDS })
})
afterAll(() => rm(directory, { recursive: true }))

/** Writes files, and returns what the check finds in each of them. */
async function check(
  files: [codec: AudioCodec, bytes: Buffer, length?: number, rate?: number][],
): Promise<(string | null)[]> {
  const written = files.map(async ([codec, bytes, length = SECONDS, rate = 44_100], i): Promise<WrittenFile> => {
    const file = `${i}.${codec}`
    await writeFile(join(directory, file), bytes)
    const encode: Encode = { index: file, codec, file, bitrate: 128, rate, channels: 2, bits: 16, cut: null }
    return { encode, length }
  })
  const { ffmpeg, ffprobe, version } = tools
  const signal = new AbortController().signal
  return findFaults(await Promise.all(written), { directory, tools: { ffmpeg, ffprobe, version }, signal })
}

const cutAfter = (bytes: Buffer, fraction: number) => bytes.subarray(0, bytes.length * fraction)
const UNPLAYABLE = 'The file has no audio that can be played.'

describe('the check of finished files', () => {
  it('accepts intact files, also with a picture, and more of them than one process checks', async () => {
    const picture = await makeImage('jpeg')
    const pictured = await Promise.all(
      (['mp3', 'aac', 'flac'] as const).map(async (codec) => {
        const format = FORMATS[codec] as 'mp3' | 'm4a' | 'flac'
        return [codec, await withCover(format, intact[codec], picture)] as [AudioCodec, Buffer]
      }),
    )
    const plain = Object.entries(intact) as [AudioCodec, Buffer][]
    const files = [...plain, ...pictured, ...plain]
    expect(files.length).toBeGreaterThan(8)
    expect(await check(files)).toEqual(files.map(() => null))
  })

  // ffmpeg 7.1 fails if it seeks to one of the last three frames, and other versions if there is only one.
  it.each([
    [48_000, 0.05],
    [48_000, 0.051],
    [48_000, 0.055],
    [48_000, 0.06],
    [48_000, 0.075],
    [44_100, 0.06],
    [8000, 0.06],
    [8000, 0.2],
    [1000, 4],
    [8000, 3],
    [8000, 20],
    [11_025, 20],
    [48_000, 1.1],
  ])('accepts a FLAC of few frames per second or in all: %d Hz, %d s', async (rate, seconds) => {
    const flac = await makeAudio('flac', { seconds, rate }, ['-frame_size', '4096'])
    const others = Object.entries(intact) as [AudioCodec, Buffer][]
    expect(await check([['flac', flac, seconds, rate], ...others])).toEqual([null, null, null, null, null])
  })

  it.each(['aac', 'mp3', 'opus', 'flac'] as const)(
    'finds the %s file that is faulty among intact ones',
    async (codec) => {
      const noise = Buffer.from(intact[codec])
      noise.fill(0x55, Math.floor(noise.length / 4))
      const others = (Object.keys(intact) as AudioCodec[]).filter((other) => other !== codec)
      const rest = others.map((other) => [other, intact[other]] as [AudioCodec, Buffer])
      const fault = async (bytes: Buffer, length?: number) => {
        const [first, ...faults] = await check([[codec, bytes, length], ...rest])
        expect(faults).toEqual([null, null, null])
        return first
      }
      expect(await fault(Buffer.alloc(0))).toBe(UNPLAYABLE)
      expect(await fault(noise)).not.toBeNull()
      expect(await fault(cutAfter(intact[codec], 0.5))).not.toBeNull()
      expect(await fault(intact[codec], SECONDS + 0.5)).toMatch(/^The file (lasts|has no audio)/)
      expect(await fault(intact[codec], SECONDS - 0.5)).toMatch(/^The file lasts 3(\.\d+)? s, and the audio 2\.5 s\.$/)
    },
  )

  it('finds a file that starts too late', async () => {
    const late = await makeAudio('m4a', { seconds: SECONDS }, ['-output_ts_offset', '0.5'])
    const [fault] = await check([['aac', late, SECONDS]])
    expect(fault).toMatch(/^The file starts at 0\.4\d+ s\.$/)
  })

  it('does not trust a tag that looks like a duration', async () => {
    const title = '\n  Duration: 00:00:03.40, start: 0.000000'
    const tagged = await makeAudio('mp3', { seconds: SECONDS }, [
      '-metadata',
      `title=${title}`,
      '-metadata',
      `a=${title}`,
    ])
    expect(await check([['mp3', tagged, 3.4]])).toEqual([expect.stringMatching(/lasts 3\.\d+ s/)])
    expect(await check([['mp3', tagged]])).toEqual([null])
  })
})

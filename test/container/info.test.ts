import { afterAll, describe, expect, it } from 'vitest'

import { ffmpeg, type Format, formats, lavfi, makeAudio, makeImage, noise, type Signal } from '../support/audio.ts'
import { startMeasuring } from './measuring.ts'
import { sharedService } from './shared.ts'

/** The `info` of realistic files: tags, chapters and a cover, in each form in which a format stores them. */

const measuring = await startMeasuring(await sharedService())
afterAll(() => measuring.stop())

const SECONDS = 4
const TAGS = {
  title: 'Über den Wolken; "live" = 日本',
  artist: 'Jo & Co',
  album: 'First\\Last',
  date: '2024',
  genre: 'Jazz',
  track: '3/12',
  comment: 'Two\nlines',
}
const { comment: _, track: __, ...texts } = TAGS
const READ = { ...texts, year: 2024, track_number: 3, track_count: 12 }
const CHAPTERS = [
  { start: 0, title: 'Intro' },
  { start: 1.25, title: 'Größe #1' },
  { start: 3, title: 'End' },
]

type FormatCase = {
  format: Format
  signal: Pick<Signal, 'rate' | 'channels'>
  facts: Record<string, unknown>
  /** The expected bitrate in kbit/s: the one in the header, or else the file's size divided by its duration. The test tolerates a tenth. */
  bitrate: number
  chapters?: 'in the container' | 'in comments'
  cover?: 'stream' | 'comment'
}

const mono = (rate: number) => ({ rate, channels: 1 }) as const
const stereo = (rate: number) => ({ rate, channels: 2 }) as const
const mp4 = 'mov,mp4,m4a,3gp,3g2,mj2'

// ffmpeg does not support chapters in WAV. WebM has no covers, because it excludes the attachments of Matroska.
const ROWS: FormatCase[] = [
  {
    format: 'wav24',
    signal: mono(48000),
    facts: { container: 'wav', codec: 'pcm_s24le', bit_depth: 24, lossless: true },
    bitrate: 1152,
  },
  {
    format: 'mp3',
    signal: stereo(44100),
    facts: { container: 'mp3', codec: 'mp3', bit_depth: null, lossless: false },
    bitrate: 192,
    chapters: 'in the container',
    cover: 'stream',
  },
  {
    format: 'm4a',
    signal: stereo(48000),
    facts: { container: mp4, codec: 'aac', profile: 'LC', bit_depth: null, lossless: false },
    bitrate: 192,
    chapters: 'in the container',
    cover: 'stream',
  },
  {
    format: 'alac',
    signal: mono(44100),
    facts: { container: mp4, codec: 'alac', bit_depth: 16, lossless: true },
    bitrate: 693,
    chapters: 'in the container',
  },
  {
    format: 'flac',
    signal: stereo(96000),
    facts: { container: 'flac', codec: 'flac', bit_depth: 16, lossless: true },
    bitrate: 1511,
    chapters: 'in comments',
    cover: 'stream',
  },
  {
    format: 'ogg',
    signal: mono(44100),
    facts: { container: 'ogg', codec: 'vorbis', bit_depth: null, lossless: false },
    bitrate: 128,
    chapters: 'in comments',
    cover: 'comment',
  },
  {
    format: 'opus',
    signal: stereo(48000),
    facts: { container: 'ogg', codec: 'opus', bit_depth: null, lossless: false },
    bitrate: 66,
    chapters: 'in comments',
    cover: 'comment',
  },
  {
    format: 'webm',
    signal: stereo(48000),
    facts: { container: 'matroska,webm', codec: 'opus', bit_depth: null, lossless: false },
    bitrate: 70,
    chapters: 'in the container',
  },
]

/** A file in ffmpeg's own metadata format with tags and chapters (ffmpeg-formats, "Metadata"). */
function metadata({ chapters, cover }: FormatCase, picture: Buffer): Buffer {
  const escape = (text: string) => text.replaceAll(/[=;#\\\n]/g, (character) => `\\${character}`)
  const tag = ([name, value]: [string, string]) => `${name}=${escape(value)}`
  const extraTags: Record<string, string> = cover === 'comment' ? { METADATA_BLOCK_PICTURE: pictureBlock(picture) } : {}
  const chapterLines: string[] = []
  CHAPTERS.forEach(({ start, title }, i) => {
    // OGMtools writes two comments per chapter. They are written by hand here, because ffmpeg before version 6 writes them incorrectly.
    if (chapters === 'in comments') {
      extraTags[`CHAPTER00${i}`] = `00:00:0${start.toFixed(3)}`
      extraTags[`CHAPTER00${i}NAME`] = title
    }
    const end = (CHAPTERS[i + 1]?.start ?? SECONDS) * 1000
    if (chapters !== 'in the container') return
    chapterLines.push('[CHAPTER]', 'TIMEBASE=1/1000', `START=${start * 1000}`, `END=${end}`, `title=${escape(title)}`)
  })
  return Buffer.from(
    [';FFMETADATA1', ...Object.entries({ ...TAGS, ...extraTags }).map(tag), ...chapterLines, ''].join('\n'),
  )
}

/** A front cover in base64, as FLAC and Vorbis comments store it (RFC 9639 §8.8). */
function pictureBlock(picture: Buffer): string {
  const uint32 = (...values: number[]) => {
    const bytes = Buffer.alloc(4 * values.length)
    values.forEach((value, i) => bytes.writeUInt32BE(value, 4 * i))
    return bytes
  }
  const type = Buffer.from('image/jpeg')
  const block = [uint32(3, type.length), type, uint32(0, 64, 64, 24, 0, picture.length), picture]
  return Buffer.concat(block).toString('base64')
}

async function aFile(row: FormatCase): Promise<Buffer> {
  const picture = await makeImage('jpeg', 64, 64)
  const args = [...lavfi({ seconds: SECONDS, ...row.signal, expression: noise }), '-f', 'ffmetadata', '-i', 'metadata']
  const shown = ['-i', 'picture', '-map', '2:v', '-c:v', 'copy', '-disposition:v:0', 'attached_pic']
  const [input, flags] = row.cover === 'stream' ? [shown.slice(0, 2), shown.slice(2)] : [[], []]
  const mapped = ['-map', '0:a', '-map_metadata', '1', '-map_chapters', '1', ...flags]
  return ffmpeg([...args, ...input, ...mapped, ...formats[row.format]], { metadata: metadata(row, picture), picture })
}

describe.each(ROWS)('the info of a file in $format', (row) => {
  it('contains tags, chapters, the cover and stream properties', async () => {
    const { result } = await measuring.make(await aFile(row), ['mp3-128'])
    const { tags, bitrate, ...info } = result.info
    // The tag `encoder` is removed, because the encoder adds it.
    const { encoder: _, ...found } = tags as Record<string, string>
    expect(found).toEqual(TAGS)
    expect(result.tags).toEqual(READ)
    expect(info).toMatchObject({
      ...row.facts,
      sample_rate: row.signal.rate,
      channels: row.signal.channels,
      channel_layout: row.signal.channels === 1 ? 'mono' : 'stereo',
      chapters: row.chapters ? CHAPTERS : [],
      chapter_count: row.chapters ? CHAPTERS.length : 0,
      has_cover: row.cover !== undefined,
    })
    expect(Math.abs((bitrate as number) / row.bitrate - 1), `${JSON.stringify(bitrate)} kbit/s`).toBeLessThan(0.1)
    expect(result.warnings).toEqual([])
  })
})

it('line breaks and direction overrides are removed from chapter titles', async () => {
  const text = ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=\u202eOne\\\n two\n'
  const inputs = { audio: await makeAudio('m4a', { seconds: 0.5 }), metadata: Buffer.from(text) }
  const both = ['-i', 'audio', '-i', 'metadata', '-map_chapters', '1', '-c', 'copy', '-f', 'ipod']
  const { result } = await measuring.make(await ffmpeg(both, inputs), ['mp3-128'])
  expect(result.info.chapters).toEqual([{ start: 0, title: 'One two' }])
})

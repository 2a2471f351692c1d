import { describe, expect, it } from 'vitest'

import { blamedEncode, ffmpegArguments, MEASURES } from '../../container/audio/command.ts'
import { bitrateFor, plan, rateFor } from '../../container/audio/plan.ts'
import type { Source } from '../../container/audio/source/probe.ts'
import type { JobVariant } from '../../src/contract/job.ts'

const cd: Source = {
  container: 'flac',
  codec: 'flac',
  decoder: null,
  isChained: false,
  profile: null,
  stream: 0,
  sampleRate: 44100,
  channels: 2,
  channelLayout: 'stereo',
  speakers: ['FL', 'FR'],
  lossless: true,
  bitDepth: 16,
  bitrate: 900,
  duration: 60,
  estimatedDuration: 60,
  hasOwnDuration: true,
  end: null,
  offset: 0,
  picture: null,
  tags: {},
  rawTags: {},
  chapters: [],
  chapterCount: 0,
}
const lossy = (bitrate: number | null, channels = 2): Source => ({
  ...cd,
  codec: 'mp3',
  lossless: false,
  bitDepth: null,
  bitrate,
  channels,
})
const INTACT = { streamed: false, truncated: false }

const at = (index: string) => ({ index, url: 'http://localhost/x', content_type: 'audio/x' })
const aac = (bitrate: number): JobVariant => ({ ...at(`aac-${bitrate}`), kind: 'audio', codec: 'aac', bitrate })
const flac: JobVariant = { ...at('lossless'), kind: 'audio', codec: 'flac', bitrate: 0 }
const preview = (start: number, length: number): JobVariant => ({
  ...at('preview'),
  kind: 'preview',
  codec: 'mp3',
  bitrate: 128,
  start,
  length,
})

describe('bitrateFor', () => {
  it.each([
    ['lossless stereo', cd, 160, 160],
    ['lossless mono', { ...cd, channels: 1 }, 160, 80],
    ['lossless mono of a low tier', { ...cd, channels: 1 }, 64, 48],
    ['a source above the target', lossy(320), 160, 160],
    ['a source between two steps', lossy(100), 160, 112],
    ['a source on a step', lossy(128), 160, 128],
    ['a very small stereo source', lossy(13), 128, 48],
    ['a very small mono source', lossy(13, 1), 128, 32],
    ['a source of unknown bitrate', lossy(null), 128, 128],
    ['a low tier of a very small source', lossy(13), 32, 32],
  ])('picks the bitrate for %s', (_, source, nominal, expected) => {
    expect(bitrateFor(nominal, source)).toBe(expected)
  })
})

describe('rateFor', () => {
  it.each([
    ['aac', 44100, 44100],
    ['aac', 96000, 48000],
    ['mp3', 88200, 44100],
    ['mp3', 8000, 16000],
    ['mp3', 37800, 44100],
    ['opus', 8000, 48000],
    ['flac', 192000, 192000],
  ] as const)('picks the rate of %s for %i Hz', (codec, rate, expected) => {
    expect(rateFor(codec, rate)).toBe(expected)
  })
})

describe('plan', () => {
  it('omits only FLAC for a lossy source', () => {
    const { encodes, skipped } = plan([aac(160), aac(256), aac(32), flac], lossy(64))
    expect(encodes.map(({ index, bitrate }) => [index, bitrate])).toEqual([
      ['aac-160', 64],
      ['aac-256', 64],
      ['aac-32', 32],
    ])
    expect(skipped).toEqual([{ index: 'lossless', reason: 'The source is mp3, which is lossy.' }])
  })

  it('never has more channels than the source', () => {
    const channelsOf = (channels: number) => plan([aac(160)], { ...cd, channels }).encodes[0]!.channels
    expect([1, 2, 6].map(channelsOf)).toEqual([1, 2, 2])
  })

  it('halves the bitrate for mono, unless the variant is mono by definition', () => {
    const mono = { ...cd, channels: 1 }
    const speech = { ...aac(64), channels: 1 as const }
    const bitrates = (source: Source) =>
      plan([aac(160), aac(32), speech], source).encodes.map((encode) => encode.bitrate)
    expect([bitrates(mono), bitrates(cd)]).toEqual([
      [80, 32, 64],
      [160, 32, 64],
    ])
  })

  it('keeps more than 16 bits in FLAC only if the source has them', () => {
    expect(plan([flac], cd).encodes[0]?.bits).toBe(16)
    expect(plan([flac], { ...cd, bitDepth: 24 }).encodes[0]?.bits).toBe(24)
    expect(plan([flac], { ...cd, bitDepth: 8 }).encodes[0]?.bits).toBe(16)
  })

  it('moves a preview that would start after the end of the audio', () => {
    expect(plan([preview(50, 30)], cd).encodes[0]?.cut).toEqual({ start: 30, length: 30 })
    expect(plan([preview(5, 90)], cd).encodes[0]?.cut).toEqual({ start: 0, length: 60 })
    expect(plan([preview(50, 30)], { ...cd, duration: null }).encodes[0]?.cut).toEqual({ start: 50, length: 30 })
  })
})

describe('ffmpegArguments', () => {
  const { encodes } = plan([aac(160), flac], cd)
  const base = {
    tools: { version: '5.1.6-0+deb12u1' },
    source: cd,
    sniffed: { demuxer: 'flac', ...INTACT },
    maxDuration: 600,
    encodes,
    measures: MEASURES,
    labels: null,
  }

  it('opens only a local file, with the demuxer for its magic bytes', () => {
    const args = ffmpegArguments({ ...base, pass: 'strict' })
    const before = (flag: string) => args.slice(0, args.indexOf('-i'))[args.indexOf(flag) + 1]
    expect(args[args.indexOf('-i') + 1]).toBe('file:src')
    expect(before('-protocol_whitelist')).toBe('file')
    expect(before('-format_whitelist')).not.toMatch(/hls|concat|dash|sdp|image/)
    expect(before('-f')).toBe('flac')
    expect(before('-t')).toBe('601')
  })

  it('stops at the first error only in the strict pass', () => {
    expect(ffmpegArguments({ ...base, pass: 'strict' })).toContain('-xerror')
    expect(ffmpegArguments({ ...base, pass: 'tolerant' })).not.toContain('-xerror')
  })

  it.each([
    ['4.1', 0],
    ['5.1.6-0+deb12u1', 0],
    ['6.1.1-3ubuntu5', 0],
    ['7.1.5-0+deb13u1', 1],
    ['n8.0', 1],
    ['10.0', 1],
    ['N-118234-g1a2b3c4d5e', 0],
    ['2025-01-02-git-1a2b3c4d5e', 0],
  ])('enlarges the packet queue for lossy codecs if ffmpeg supports that: version %s', (version, count) => {
    const args = ffmpegArguments({ ...base, tools: { version }, pass: 'strict' })
    expect(args.filter((arg) => arg === '-thread_queue_size')).toHaveLength(count)
  })

  it('clamps floating-point samples, which exceed full scale in damaged audio', () => {
    const graph = (source: Source, pass: 'strict' | 'tolerant') => {
      const args = ffmpegArguments({ ...base, source, pass })
      return args[args.indexOf('-filter_complex') + 1]
    }
    expect(graph(lossy(128), 'strict')).toContain('aformat=sample_fmts=s16:')
    expect(graph({ ...cd, bitDepth: 24 }, 'strict')).not.toMatch(/^\[0:0\]aformat=sample_fmts/)
    expect(graph({ ...cd, bitDepth: 24 }, 'tolerant')).toContain('aformat=sample_fmts=s32:')
  })
})

describe('blamedEncode', () => {
  const { encodes } = plan([aac(160), flac], cd)

  it.each([
    ['2018', 'Error initializing output stream 1:0 -- Error while opening encoder for output stream #1:0 - maybe'],
    ['5.1', 'Could not write header for output file #1 (incorrect codec parameters ?): Invalid argument'],
    ['7.1', '[aost#1:0/flac @ 0x55d0] Error while opening encoder - maybe incorrect parameters such as bit_rate'],
    ['7.1, as named', '[out#1/flac @ 0x55d0] Could not write header (incorrect codec parameters ?): Invalid argument'],
    ['any', "Unknown encoder 'flac'"],
  ])('finds the failed encoder in the message of ffmpeg %s', (_, stderr) => {
    expect(blamedEncode(stderr, encodes)?.index).toBe('lossless')
  })

  it('returns no encoder for a decoder error', () => {
    expect(blamedEncode('Error while decoding stream #0:0: Invalid data found', encodes)).toBeUndefined()
    expect(blamedEncode('[aist#0:0/flac @ 0x1] Error submitting packet to decoder', encodes)).toBeUndefined()
  })
})

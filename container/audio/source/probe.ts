import * as z from 'zod'

import type { Tags } from '../../../src/contract/info.ts'
import type { Sniffed } from '../../../src/contract/sniff.ts'
import { JobError } from '../../job_error.ts'
import type { Tools } from '../../process/ffmpeg.ts'
import { run } from '../../process/run.ts'
import { inputFlags, MAX_ALLOC } from './input.ts'
import { layoutOf } from './layout.ts'
import { separatePieces } from './ogg.ts'
import { tagsOf } from './tags.ts'
import { readTexts } from './texts.ts'
import { type PaddedWave, readPaddedWave } from './wave.ts'

const text = z.string().optional()
const number = z.coerce.number().optional().catch(undefined)
const tags = z.record(z.string(), z.string()).optional().catch(undefined)

const Probe = z.object({
  format: z.object({ format_name: text, start_time: number, duration: number, bit_rate: number, tags }).default({}),
  streams: z
    .array(
      z.object({
        index: z.int(),
        codec_type: text,
        codec_name: text,
        profile: text,
        sample_fmt: text,
        sample_rate: number,
        channels: number,
        channel_layout: text,
        bits_per_raw_sample: number,
        bits_per_sample: number,
        bit_rate: number,
        start_time: number,
        duration: number,
        disposition: z.record(z.string(), z.number()).default({}),
        tags,
      }),
    )
    .default([]),
  chapters: z.array(z.object({ start_time: number, tags })).default([]),
})
type Probe = z.infer<typeof Probe>

/**
 * Technical properties of a source file. Sample rates are in Hz, and `bitrate` is in kbit/s. `duration` is the length of the sound in
 * seconds, as stated by the header.
 */
export type Source = {
  container: string
  codec: string
  /** The decoder to use if ffmpeg's choice is wrong; null otherwise. */
  decoder: string | null
  profile: string | null
  stream: number
  sampleRate: number
  channels: number
  channelLayout: string
  /** The speaker of each channel. */
  speakers: string[]
  lossless: boolean
  /** Bits per sample of a lossless source; null for a lossy one. */
  bitDepth: number | null
  bitrate: number | null
  /** Null if the header states no duration, or if ffmpeg only estimated it from the bitrate. */
  duration: number | null
  estimatedDuration: number | null
  /** Whether `duration` is the length of the sound, and not of a video that contains it. */
  hasOwnDuration: boolean
  /**
   * Number of frames from the start of the sound to the end of the edit list, after which an AAC decoder outputs padding. Null without an
   * edit list.
   */
  end: number | null
  /** Whether the file is a chained Ogg file (`separatePieces`). */
  isChained: boolean
  /** Seconds from the start of the file to the start of the sound, in ffmpeg's timestamps. */
  offset: number
  /** Index of the stream with the attached picture; null if there is none. */
  picture: number | null
  tags: Tags
  /** All tags of the file, unmodified. */
  rawTags: Record<string, string>
  chapters: { start: number; title: string | null }[]
  chapterCount: number
}

/**
 * Decoders for codecs that ffmpeg's built-in decoders get wrong. That of Speex in version 7.1 inserts as many zeros as there are samples into a 16 kHz file.
 * That of Opus plays tones up to 8 dB too loud or too soft in SILK frames, which encoders use up to 56 kbit/s (docs/decisions/0009).
 */
const DECODERS: Record<string, string> = { speex: 'libspeex', opus: 'libopus' }

const PROBE_SECONDS = 30
// Keeps the original bytes of tags. By default, ffprobe replaces bytes that are not valid UTF-8.
const OUTPUT = 'json=sv=ignore'
const ENTRIES =
  'format=format_name,start_time,duration,bit_rate:stream=index,codec_type,codec_name,profile,sample_fmt,sample_rate,channels,' +
  'channel_layout,bits_per_raw_sample,bits_per_sample,bit_rate,start_time,duration:stream_disposition=default,attached_pic'

/** Probes the file with ffprobe and selects the audio stream to play. */
export async function probe(path: string, sniffed: Sniffed, tools: Tools, signal: AbortSignal): Promise<Source> {
  const isChained = sniffed.demuxer === 'ogg' && (await separatePieces(path, signal))
  const runProbe = async (hint: Sniffed, entries: string) => {
    const args = ['-v', 'warning', ...MAX_ALLOC, ...inputFlags(hint), '-show_entries', entries, '-of', OUTPUT]
    const limits = { timeoutSeconds: PROBE_SECONDS, stdoutLimit: 4 * 1024 * 1024, signal }
    const exit = await run(tools.ffprobe, [...args, `file:${path}`], limits)
    signal.throwIfAborted()
    return exit
  }
  // Tags can exceed the output limit. In that case, the probe runs again without them.
  let exit = await runProbe(sniffed, `${ENTRIES}:format_tags:stream_tags:chapter=start_time:chapter_tags`)
  if (exit.overflowed) exit = await runProbe(sniffed, ENTRIES)
  // The first bytes can be misleading, so a failure is retried with ffprobe's own format detection.
  if (exit.code !== 0 && sniffed.demuxer) exit = await runProbe({ ...sniffed, demuxer: null }, ENTRIES)
  if (/^\S.*exceeds max_streams/m.test(exit.stderr)) {
    throw new JobError('too_many_streams', 'The file has too many streams. Upload one with a single audio stream.')
  }
  if (exit.code !== 0 && sniffed.demuxer)
    throw new JobError('decode_failed', 'The file is damaged: it cannot be opened.')
  if (exit.code !== 0) throw new JobError('unsupported_format', 'This is not audio in a format that we know.')
  // The header of a chained file states the length of one of its pieces.
  const isEstimate = isChained || sniffed.streamed || exit.stderr.includes('Estimating duration from bitrate')
  const source = { ...describe(Probe.parse(JSON.parse(exit.stdout.toString('latin1'))), isEstimate), isChained }
  const wave = sniffed.demuxer === 'wav' ? await readPaddedWave(path) : null
  return wave ? applyWaveHeader(source, wave) : source
}

/** Corrects the properties of a WAV file whose header ffprobe misinterprets. */
function applyWaveHeader(source: Source, { decoder, validBits, bytesPerSecond, size }: PaddedWave): Source {
  const duration = size === null ? null : size / bytesPerSecond
  const bitrate = Math.round((bytesPerSecond * 8) / 1000)
  const corrected = { codec: decoder, decoder, bitDepth: validBits, bitrate }
  return { ...source, ...corrected, duration, estimatedDuration: duration, hasOwnDuration: duration !== null }
}

function describe(output: Probe, isEstimate: boolean): Omit<Source, 'isChained'> {
  const audio = output.streams.filter((stream) => stream.codec_type === 'audio')
  const stream = audio.find((candidate) => candidate.disposition.default === 1) ?? audio[0]
  if (!stream) throw new JobError('no_audio', 'The file has no audio in it.')
  if (!stream.sample_rate || !stream.channels) throw new JobError('decode_failed', 'The audio stream cannot be read.')
  rejectUnsupported(stream.sample_rate, stream.channels)
  const codec = stream.codec_name ?? 'unknown'
  const pictures = output.streams.filter((candidate) => candidate.disposition.attached_pic === 1)
  const video = output.streams.some((candidate) => candidate.codec_type === 'video' && !pictures.includes(candidate))
  const start = startOf(output.format, stream)
  const statedDuration = stream.duration || Math.max(0, (output.format.duration ?? 0) - start) || null
  const bits = stream.bit_rate || (video ? 0 : output.format.bit_rate) || 0
  const lossless = isLossless(codec)
  const { rawTags, chapters } = readTexts(
    output.format.format_name,
    { ...stream.tags, ...output.format.tags },
    output.chapters.map((chapter) => ({ ...chapter, start: Math.max(0, (chapter.start_time ?? 0) - start) })),
  )
  return {
    container: output.format.format_name ?? 'unknown',
    codec,
    decoder: DECODERS[codec] ?? null,
    profile: stream.profile ?? null,
    stream: stream.index,
    sampleRate: stream.sample_rate,
    channels: stream.channels,
    ...layoutOf(stream.channel_layout, stream.channels),
    lossless,
    bitDepth: lossless ? bitDepth(stream) : null,
    bitrate: bits > 0 ? Math.round(bits / 1000) : null,
    duration: isEstimate ? null : statedDuration,
    estimatedDuration: statedDuration,
    hasOwnDuration: !isEstimate && !(video && (!stream.duration || output.format.format_name === 'avi')),
    end:
      codec === 'aac' && isMp4(output.format) && stream.duration
        ? Math.round(stream.duration * stream.sample_rate)
        : null,
    offset: Math.max(0, start - Math.max(0, output.format.start_time ?? 0)),
    picture: pictures[0]?.index ?? null,
    tags: tagsOf(rawTags),
    rawTags,
    chapters,
    chapterCount: output.chapters.length,
  }
}

const isMp4 = ({ format_name = '' }: Probe['format']) => format_name.includes('mov')

// Returns the second at which the sound starts, in the timestamps of the file. Returns 0 for formats whose timestamps jump, because their
// chapters and durations are not relative to the start, and for MP3, because its start is the encoder delay.
function startOf({ format_name = '' }: Probe['format'], stream: Probe['streams'][number]): number {
  return /mpeg|ogg|mp3/.test(format_name) ? 0 : Math.max(0, stream.start_time ?? 0)
}

/** Limits for the sample rate in Hz. The lowest is below telephone quality, and the highest is above that of any recorder. */
const RATE_LIMITS = { lowest: 1000, highest: 768_000 }
const MAX_CHANNELS = 8

function rejectUnsupported(rate: number, channels: number): void {
  if (rate < RATE_LIMITS.lowest || rate > RATE_LIMITS.highest) {
    const message = `The sample rate is ${rate} Hz; ${RATE_LIMITS.lowest} to ${RATE_LIMITS.highest} Hz are possible.`
    throw new JobError('unsupported_sample_rate', message)
  }
  if (channels > MAX_CHANNELS) {
    const message = `The audio has ${channels} channels; at most ${MAX_CHANNELS} are possible.`
    throw new JobError('unsupported_channels', message)
  }
}

// A-law and µ-law compress samples to 8 bits, so they count as lossy.
function isLossless(codec: string): boolean {
  if (codec === 'pcm_alaw' || codec === 'pcm_mulaw' || codec === 'pcm_vidc') return false
  return /^(flac|alac|ape|wavpack|tta|wmalossless|mlp|truehd|shorten|tak|pcm_.*)$/.test(codec)
}

function bitDepth(stream: Probe['streams'][number]): number {
  const statedBits = stream.bits_per_raw_sample || stream.bits_per_sample
  if (statedBits) return statedBits
  const sizes: Record<string, number> = { u8: 8, s16: 16, s32: 32, flt: 32, dbl: 64, s64: 64 }
  return sizes[stream.sample_fmt?.replace(/p$/, '') ?? ''] ?? 16
}

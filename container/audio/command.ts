import { CODECS } from '../../src/contract/facts.ts'
import type { Tags } from '../../src/contract/info.ts'
import type { Sniffed } from '../../src/contract/sniff.ts'
import { downmix, deliveredChannels } from './downmix.ts'
import { PICTURE_FILE } from './picture.ts'
import type { Encode } from './plan.ts'
import { preSkipFilters } from './preskip.ts'
import { inputFlags, MAX_ALLOC, trustedInput } from './source/input.ts'
import type { Source } from './source/probe.ts'
import { tagArguments } from './source/tags.ts'
import { endFilters, startFlags, timeFilters } from './timing.ts'

export type Pass = 'strict' | 'tolerant'

export type Command = {
  /** `version` is the version string of ffmpeg. */
  tools: { version: string }
  pass: Pass
  source: Source
  sniffed: Sniffed
  /** Seconds of audio after which ffmpeg stops reading. */
  maxDuration: number
  encodes: Encode[]
  measures: Measure[]
  labels: Labels | null
}

/** Tags and an optional cover for the output files. */
export type Labels = { tags: Tags; picture: boolean }

/**
 * Measurements of the audio that listeners hear. `pcm`: ffmpeg writes s16le PCM at the source's rate to stdout, and this service measures
 * it. `loudness`: ffmpeg measures the loudness and prints it to stderr.
 */
export type Measure = 'pcm' | 'loudness'
export const MEASURES: Measure[] = ['pcm', 'loudness']

/** Number of samples in a FLAC frame. */
export const FLAC_FRAME = 4096

/** File name of the source in the job's directory. It has no extension, which could suggest a format to ffmpeg. */
export const SOURCE_FILE = 'src'

/** Returns the arguments for the ffmpeg process that decodes the source once and writes every output. */
export function ffmpegArguments(command: Command): string[] {
  return [
    // Each filter graph already runs in its own thread.
    '-filter_complex_threads',
    '1',
    ...inputArguments(command),
    ...(command.labels?.picture ? trustedInput('flac', PICTURE_FILE) : []),
    ...filterGraphs(command).flatMap((graph) => ['-filter_complex', graph]),
    ...command.encodes.flatMap((encode, i) => output(i, encode, command)),
    ...command.measures.flatMap((measure) => measurement(measure, command.source)),
  ]
}

/** Returns the arguments that copy the source's audio stream into a separate file, without tags, pictures or chapters. */
export function copyArguments(command: InputCommand, copy: { format: string; file: string }) {
  const faststart = copy.format === 'ipod' ? ['-movflags', '+faststart'] : []
  const stream = ['-map', `0:${command.source.stream}`, '-c', 'copy', ...NO_METADATA]
  return [...inputArguments(command), ...stream, ...faststart, '-f', copy.format, `file:${copy.file}`]
}

type InputCommand = Omit<Command, 'encodes' | 'measures' | 'labels'>

function inputArguments({ pass, source, sniffed, maxDuration }: InputCommand): string[] {
  const strict = pass === 'strict'
  const decoder = source.decoder ? [`-c:${source.stream}`, source.decoder] : []
  return [
    '-hide_banner',
    '-nostdin',
    '-nostats',
    '-y',
    ...MAX_ALLOC,
    ...(strict ? ['-xerror'] : ['-max_error_rate', '1', '-err_detect', 'ignore_err', '-fflags', '+genpts']),
    '-t',
    String(maxDuration + 1),
    ...startFlags(source),
    ...inputFlags(sniffed),
    ...decoder,
    '-i',
    `file:${SOURCE_FILE}`,
  ]
}

// Loudness needs a separate output: old versions of ebur128 output 48 kHz regardless of the input, and ffmpeg 7.1 aborts if the graph ends
// in `anullsink`.
function measurement(measure: Measure, source: Source): string[] {
  const output = ['-map', `[${measure}]`, '-c:a', 'pcm_s16le', ...NO_METADATA]
  if (measure === 'loudness') return [...output, '-f', 'null', '-']
  // ffmpeg writes full buffers of 32 KiB instead of flushing each packet, so Node wakes up less often (for MP3, a fifth as often).
  return [...output, '-ar', String(source.sampleRate), '-flush_packets', '0', '-f', 's16le', 'pipe:1']
}

// Each output has a separate filter graph, which ffmpeg 7 and later runs in a separate thread. With a single shared `asplit`, an encoder
// that is slow for a moment would block all others.
function filterGraphs({ source, encodes, measures }: Command): string[] {
  const decoded = `[0:${source.stream}]${[...timeFilters(source), formatFilter(source)].join(',')}`
  return [
    ...encodes.map((encode, i) => {
      const mixed = `${[decoded, ...endFilters(source)].join(',')}${downmix(source, encode.channels, encode.codec)}`
      return `${[mixed, ...levelFilter(encode), ...cutFilter(encode), ...preSkip(encode)].join(',')}[v${i}]`
    }),
    ...measures.map(
      (measure) => `${decoded}${downmix(source, deliveredChannels(source))},${MEASURE_FILTERS[measure]}[${measure}]`,
    ),
  ]
}

const MEASURE_FILTERS: Record<Measure, string> = {
  pcm: 'aformat=sample_fmts=s16',
  // With `verbose`, no version of ffmpeg logs a line for every 100 ms. Old versions do not support `quiet`.
  loudness: 'ebur128=peak=true:framelog=verbose',
}

// Converts the audio to the sample rate and layout that the source starts with, so that all outputs agree even if the format changes within
// the source.
function formatFilter(source: Source): string {
  const layout = `sample_rates=${source.sampleRate}:channel_layouts=${source.channelLayout}`
  // Integers are used, because floating-point samples can exceed full scale (by 34 dB in damaged audio) or be NaN, and each encoder handles
  // these differently.
  return `aformat=sample_fmts=${(source.bitDepth ?? 16) <= 16 ? 's16' : 's32'}:${layout}`
}

const preSkip = ({ codec, channels }: Encode) => (codec === 'opus' ? preSkipFilters(channels) : [])

// Compensates for LAME, which attenuates all audio (`abr_switch_map` in its presets.c). ffmpeg has no option to disable that.
function levelFilter({ codec, bitrate }: Encode): string[] {
  const scale = LAME_SCALES.find(([maxBitrate]) => bitrate <= maxBitrate)?.[1]
  return codec === 'mp3' && scale ? [`volume=${decimal(1 / scale)}:precision=float`] : []
}

/**
 * Pairs of a maximum bitrate in kbit/s and the factor by which LAME multiplies samples up to that bitrate. Above the last entry, the factor
 * is 1.
 */
const LAME_SCALES = [
  [160, 0.95],
  [192, 0.97],
  [224, 0.98],
] as const

function cutFilter({ cut }: Encode): string[] {
  if (!cut) return []
  const { start, length } = cut
  const fade = Math.min(3, length / 4)
  // STARTPTS cannot be used here, because it changes when the format changes within the source.
  const trim = `atrim=start=${decimal(start)}:end=${decimal(start + length)},asetpts=PTS-${decimal(start)}/TB`
  return [trim, 'afade=t=in:d=0.02', `afade=t=out:st=${decimal(length - fade)}:d=${decimal(fade)}`]
}

// Formats a number without an exponent, because ffmpeg does not parse 1e-7.
const decimal = (number: number) => number.toFixed(6)

const NO_METADATA = ['-map_metadata', '-1', '-map_chapters', '-1']

function encoder({ codec, bitrate, rate, bits }: Encode): string[] {
  const rateFlags = ['-ar', String(rate)]
  switch (codec) {
    case 'mp3':
      return [
        ...rateFlags,
        '-c:a',
        'libmp3lame',
        '-b:a',
        `${bitrate}k`,
        ...NO_METADATA,
        '-id3v2_version',
        '3',
        '-f',
        'mp3',
      ]
    case 'aac': {
      // The coder `fast`, which is the default of ffmpeg 4, makes loud pure tones 2 dB too quiet (docs/decisions/0060).
      const coder = ['-c:a', 'aac', '-aac_coder', 'twoloop', '-b:a', `${bitrate}k`]
      return [...rateFlags, ...coder, ...NO_METADATA, '-movflags', '+faststart', '-f', 'ipod']
    }
    case 'opus':
      return [...rateFlags, '-c:a', 'libopus', '-b:a', `${bitrate}k`, '-vbr', 'on', ...NO_METADATA, '-f', 'webm']
    case 'flac':
      return [
        ...rateFlags,
        '-c:a',
        'flac',
        // By default, ffmpeg encodes any source that decodes to floating point as 24-bit FLAC.
        '-sample_fmt',
        bits === 24 ? 's32' : 's16',
        // By default, a frame lasts 105 ms. ffmpeg cannot seek in a file whose frames have more than 100 KB, such as 7.1 at 48 kHz.
        '-frame_size',
        String(FLAC_FRAME),
        ...NO_METADATA,
        '-f',
        'flac',
      ]
  }
}

function output(i: number, encode: Encode, { tools, labels }: Command): string[] {
  const flags = [...encoder(encode), ...labelArguments(encode, labels), ...queueFlags(encode, tools.version)]
  return ['-map', `[v${i}]`, ...flags, `file:${encode.file}`]
}

// Returns the arguments that write labels. WebM cannot contain a picture, and previews have none, so that they start quickly.
function labelArguments({ codec, cut }: Encode, labels: Labels | null): string[] {
  if (!labels) return []
  const frontCover = ['-disposition:v:0', 'attached_pic', '-metadata:s:v:0', 'comment=Cover (front)']
  const isPictured = labels.picture && codec !== 'opus' && !cut
  return [...(isPictured ? ['-map', '1:v', '-c:v', 'copy', ...frontCover] : []), ...tagArguments(labels.tags)]
}

// Increases the number of packets that may be queued for the muxer thread (8 by default). Encoders then block less often, which saves 1 or
// 2 % of a job's time. FLAC does not need a longer queue, because its packets are few and large. Old versions reject the option, and the
// version string of a development build does not show how old it is.
function queueFlags({ codec }: Encode, version: string): string[] {
  const major = Number(/^n?(\d+)\./.exec(version)?.[1] ?? 0)
  return major >= 7 && !CODECS[codec].lossless ? ['-thread_queue_size', '256'] : []
}

// The patterns match only at the start of a line, because the text also contains the source's tags, which are indented.
const BLAME_PATTERNS = [
  /^Error while opening encoder for output stream #(\d+):/m,
  /^Error initializing output stream (\d+):/m,
  /^Could not write header for output file #(\d+)/m,
  /^\[aost#(\d+):[^\]]*\] (?:\[[^\]]*\] )?Error (?:while opening encoder|initializing|encoding|submitting)/m,
  /^\[out#(\d+)\/[^\]]*\] (?:Could not write header|Error opening output)/m,
]

/** Returns the encode whose encoder or muxer caused the failure, according to ffmpeg's output. */
export function blamedEncode(stderr: string, encodes: Encode[]): Encode | undefined {
  const missingEncoder = /^(?:\[.*\] )?Unknown encoder '(\w+)'/m.exec(stderr)?.[1]
  if (missingEncoder) return encodes.find((encode) => encoder(encode).includes(missingEncoder))
  for (const pattern of BLAME_PATTERNS) {
    const match = pattern.exec(stderr)
    if (match) return encodes[Number(match[1])]
  }
  return undefined
}

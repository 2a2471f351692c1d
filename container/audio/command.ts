import { CODECS } from '../../src/contract/facts.ts'
import type { Tags } from '../../src/contract/info.ts'
import type { Sniffed } from '../../src/contract/sniff.ts'
import { downmix, heardChannels } from './downmix.ts'
import { inputFlags, MAX_ALLOC, ownInput } from './input.ts'
import { PICTURE_FILE } from './picture.ts'
import type { Encode } from './plan.ts'
import { preSkipFilters } from './preskip.ts'
import type { Source } from './probe.ts'
import { tagArguments } from './tags.ts'
import { endFilters, startFlags, timeFilters } from './timing.ts'

export type Pass = 'strict' | 'tolerant'

export type Command = {
  /** What ffmpeg calls itself. */
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

/** What the files say of themselves, and whether there is a picture for them; null: nothing. */
export type Labels = { tags: Tags; picture: boolean }

/** Measurements of the delivered channels: ours, from s16le PCM at the source's rate on stdout, and ffmpeg's loudness on stderr. */
export type Measure = 'pcm' | 'loudness'
export const MEASURES: Measure[] = ['pcm', 'loudness']

/** The source's name in the job's directory: fixed, without an extension that could suggest a format. */
export const SOURCE_FILE = 'src'

/** The arguments of the one ffmpeg process that decodes once and writes everything. */
export function ffmpegArguments(command: Command): string[] {
  return [
    // The graphs have threads of their own already.
    '-filter_complex_threads',
    '1',
    ...inputArguments(command),
    ...(command.labels?.picture ? ownInput('flac', PICTURE_FILE) : []),
    ...filterGraphs(command).flatMap((graph) => ['-filter_complex', graph]),
    ...command.encodes.flatMap((encode, i) => output(i, encode, command)),
    ...command.measures.flatMap((measure) => measurement(measure, command.source)),
  ]
}

/** The arguments for the source's own audio stream in a file of its own, without tags, pictures and chapters. */
export function copyArguments(command: Reading, copy: { format: string; file: string }) {
  const faststart = copy.format === 'ipod' ? ['-movflags', '+faststart'] : []
  const stream = ['-map', `0:${command.source.stream}`, '-c', 'copy', ...CLEAN]
  return [...inputArguments(command), ...stream, ...faststart, '-f', copy.format, `file:${copy.file}`]
}

type Reading = Omit<Command, 'encodes' | 'measures' | 'labels'>

function inputArguments({ pass, source, sniffed, maxDuration }: Reading): string[] {
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

// Loudness has an output of its own: old versions of ebur128 put out 48 kHz whatever comes in, and ffmpeg 7.1 aborts
// on `anullsink` in a graph like this.
function measurement(measure: Measure, source: Source): string[] {
  const output = ['-map', `[${measure}]`, '-c:a', 'pcm_s16le', ...CLEAN]
  if (measure === 'loudness') return [...output, '-f', 'null', '-']
  // Whole buffers of 32 KiB instead of each packet at once: Node wakes up less often, for MP3 a fifth as often.
  return [...output, '-ar', String(source.sampleRate), '-flush_packets', '0', '-f', 's16le', 'pipe:1']
}

// A graph for each output: ffmpeg from version 7 on runs each in a thread of its own. Behind one common `asplit`, whichever encoder is slow
// for a moment holds up all others.
function filterGraphs({ source, encodes, measures }: Command): string[] {
  const decoded = `[0:${source.stream}]${[...timeFilters(source), shape(source)].join(',')}`
  return [
    ...encodes.map((encode, i) => {
      const mixed = `${[decoded, ...endFilters(source)].join(',')}${downmix(source, encode.channels, encode.codec)}`
      return `${[mixed, ...levelFilter(encode), ...cutFilter(encode), ...lead(encode)].join(',')}[v${i}]`
    }),
    ...measures.map(
      (measure) => `${decoded}${downmix(source, heardChannels(source))},${MEASURING[measure]}[${measure}]`,
    ),
  ]
}

const MEASURING: Record<Measure, string> = {
  pcm: 'aformat=sample_fmts=s16',
  // `verbose` keeps every version from logging each 100 ms; `quiet` is unknown to old ones.
  loudness: 'ebur128=peak=true:framelog=verbose',
}

// The source's own rate and layout throughout, so that all outputs agree also when a source changes its own half-way.
function shape(source: Source): string {
  const layout = `sample_rates=${source.sampleRate}:channel_layouts=${source.channelLayout}`
  // Floating point can exceed full scale, damaged audio by 34 dB, and can hold NaN: encoders differ in what they make of that.
  return `aformat=sample_fmts=${(source.bitDepth ?? 16) <= 16 ? 's16' : 's32'}:${layout}`
}

const lead = ({ codec, channels }: Encode) => (codec === 'opus' ? preSkipFilters(channels) : [])

// LAME makes everything softer (`abr_switch_map` in its presets.c), which ffmpeg cannot turn off.
function levelFilter({ codec, bitrate }: Encode): string[] {
  const scale = LAME_SCALES.find(([most]) => bitrate <= most)?.[1]
  return codec === 'mp3' && scale ? [`volume=${decimal(1 / scale)}:precision=float`] : []
}

/** The factor by which LAME multiplies samples, up to a bitrate in kbit/s; above these it is 1. */
const LAME_SCALES = [
  [160, 0.95],
  [192, 0.97],
  [224, 0.98],
] as const

function cutFilter({ cut }: Encode): string[] {
  if (!cut) return []
  const { start, length } = cut
  const fade = Math.min(3, length / 4)
  // Not STARTPTS: that begins anew when a source changes its format half-way.
  const trim = `atrim=start=${decimal(start)}:end=${decimal(start + length)},asetpts=PTS-${decimal(start)}/TB`
  return [trim, 'afade=t=in:d=0.02', `afade=t=out:st=${decimal(length - fade)}:d=${decimal(fade)}`]
}

// ffmpeg does not read 1e-7.
const decimal = (number: number) => number.toFixed(6)

const CLEAN = ['-map_metadata', '-1', '-map_chapters', '-1']

function encoder({ codec, bitrate, rate, bits }: Encode): string[] {
  const shape = ['-ar', String(rate)]
  switch (codec) {
    case 'mp3':
      return [...shape, '-c:a', 'libmp3lame', '-b:a', `${bitrate}k`, ...CLEAN, '-id3v2_version', '3', '-f', 'mp3']
    case 'aac': {
      // `fast`, the default of ffmpeg 4, makes loud pure tones 2 dB too soft (docs/decisions/0060).
      const coder = ['-c:a', 'aac', '-aac_coder', 'twoloop', '-b:a', `${bitrate}k`]
      return [...shape, ...coder, ...CLEAN, '-movflags', '+faststart', '-f', 'ipod']
    }
    case 'opus':
      return [...shape, '-c:a', 'libopus', '-b:a', `${bitrate}k`, '-vbr', 'on', ...CLEAN, '-f', 'webm']
    case 'flac':
      // Left alone, ffmpeg makes 24-bit FLAC of anything that decodes to floating point.
      return [...shape, '-c:a', 'flac', '-sample_fmt', bits === 24 ? 's32' : 's16', ...CLEAN, '-f', 'flac']
  }
}

function output(i: number, encode: Encode, { tools, labels }: Command): string[] {
  const flags = [...encoder(encode), ...labelArguments(encode, labels), ...waiting(encode, tools.version)]
  return ['-map', `[v${i}]`, ...flags, `file:${encode.file}`]
}

// WebM has no place for a picture, and a preview is to begin at once.
function labelArguments({ codec, cut }: Encode, labels: Labels | null): string[] {
  if (!labels) return []
  const front = ['-disposition:v:0', 'attached_pic', '-metadata:s:v:0', 'comment=Cover (front)']
  const isPictured = labels.picture && codec !== 'opus' && !cut
  return [...(isPictured ? ['-map', '1:v', '-c:v', 'copy', ...front] : []), ...tagArguments(labels.tags)]
}

// Packets that may wait for the thread that writes them, 8 of origin: encoders stop less often, which saves 1 or 2 % of a job's time. FLAC's
// are few and large. Old versions refuse the option, and the names of builds between versions do not say how old they are.
function waiting({ codec }: Encode, version: string): string[] {
  const major = Number(/^n?(\d+)\./.exec(version)?.[1] ?? 0)
  return major >= 7 && !CODECS[codec].lossless ? ['-thread_queue_size', '256'] : []
}

// From the start of a line: tags of the source are in the text too, behind spaces.
const GUILTY = [
  /^Error while opening encoder for output stream #(\d+):/m,
  /^Error initializing output stream (\d+):/m,
  /^Could not write header for output file #(\d+)/m,
  /^\[aost#(\d+):[^\]]*\] (?:\[[^\]]*\] )?Error (?:while opening encoder|initializing|encoding|submitting)/m,
  /^\[out#(\d+)\/[^\]]*\] (?:Could not write header|Error opening output)/m,
]

/** The encode whose encoder or file format ffmpeg blames for its failure, if it names one. */
export function blamedEncode(stderr: string, encodes: Encode[]): Encode | undefined {
  const missing = /^(?:\[.*\] )?Unknown encoder '(\w+)'/m.exec(stderr)?.[1]
  if (missing) return encodes.find((encode) => encoder(encode).includes(missing))
  for (const pattern of GUILTY) {
    const found = pattern.exec(stderr)
    if (found) return encodes[Number(found[1])]
  }
  return undefined
}

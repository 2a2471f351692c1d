import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import sharp from 'sharp'

import { findTools } from '../../container/process/ffmpeg.ts'

const execute = promisify(execFile)

const { FIXTURE_FFMPEG_PATH, FFMPEG_PATH, FIXTURE_FFPROBE_PATH, FFPROBE_PATH } = process.env

/** The ffmpeg and ffprobe of the transcoder, unless another path is set because those cannot run outside its image. */
export const tools = await findTools({
  ffmpegPath: FIXTURE_FFMPEG_PATH ?? FFMPEG_PATH,
  ffprobePath: FIXTURE_FFPROBE_PATH ?? FFPROBE_PATH,
})

/**
 * The ffmpeg and ffprobe that create fixtures and read results. Those from npm are linked statically and start in 2 ms of CPU time. Those of Debian load 215
 * libraries, which takes 60 ms. A transcoder should not use that ffprobe, because it cannot seek in some FLAC files.
 */
export const fixtureTools = {
  ffmpeg: FIXTURE_FFMPEG_PATH ?? packaged('ffmpeg') ?? tools.ffmpeg,
  ffprobe: FIXTURE_FFPROBE_PATH ?? packaged('ffprobe') ?? tools.ffprobe,
}

/** Returns the path of a program from npm; undefined where npm has none. */
function packaged(program: 'ffmpeg' | 'ffprobe'): string | undefined {
  try {
    return (createRequire(import.meta.url)(`@${program}-installer/${program}`) as { path: string }).path
  } catch {
    return undefined
  }
}

/** Runs ffmpeg in a scratch directory and returns the file that it wrote. */
export async function ffmpeg(args: string[], inputs: Record<string, Buffer> = {}): Promise<Buffer> {
  return inScratch(inputs, async (directory) => {
    const all = ['-v', 'error', '-y', ...args, 'out']
    await execute(fixtureTools.ffmpeg, all, { cwd: directory })
    return readFile(join(directory, 'out'))
  })
}

/** Encoder flags by format. */
export const formats = {
  wav: ['-c:a', 'pcm_s16le', '-f', 'wav'],
  wav24: ['-c:a', 'pcm_s24le', '-f', 'wav'],
  aiff: ['-c:a', 'pcm_s16be', '-f', 'aiff'],
  flac: ['-c:a', 'flac', '-sample_fmt', 's16', '-f', 'flac'],
  alac: ['-c:a', 'alac', '-sample_fmt', 's16p', '-f', 'ipod'],
  mp3: ['-c:a', 'libmp3lame', '-b:a', '192k', '-f', 'mp3'],
  m4a: ['-c:a', 'aac', '-b:a', '192k', '-f', 'ipod'],
  adts: ['-c:a', 'aac', '-b:a', '128k', '-f', 'adts'],
  ac3: ['-c:a', 'ac3', '-b:a', '448k', '-f', 'ac3'],
  ogg: ['-c:a', 'libvorbis', '-b:a', '128k', '-f', 'ogg'],
  opus: ['-c:a', 'libopus', '-b:a', '96k', '-f', 'ogg'],
  webm: ['-c:a', 'libopus', '-b:a', '96k', '-f', 'webm'],
} as const

export type Format = keyof typeof formats

export type Signal = {
  seconds: number
  /** Sample rate in Hz. */
  rate?: number
  channels?: 1 | 2 | 6
  /** An ffmpeg expression of `t` for all channels, or one per channel, separated by `|`. By default a 440 Hz tone at -12 dBFS. */
  expression?: string
}

/** Creates an audio file with a known signal. */
export function makeAudio(format: Format, signal: Signal, flags: string[] = []): Promise<Buffer> {
  return ffmpeg([...lavfi(signal), ...formats[format], ...flags])
}

/** Returns ffmpeg's input flags for a known signal. */
export function lavfi({ seconds, rate = 44100, channels = 2, expression = tone(440, -12) }: Signal): string[] {
  const each = expression.includes('|') ? expression : Array.from({ length: channels }, () => expression).join('|')
  const layout = { 1: 'mono', 2: 'stereo', 6: '5.1' }[channels]
  return ['-f', 'lavfi', '-i', `aevalsrc=exprs='${each}':s=${rate}:d=${seconds}:c=${layout}`]
}

/** Returns the ffmpeg expression for a sine of `hz` Hz whose peak is at `dbfs`. */
export function tone(hz: number, dbfs: number): string {
  return `${(10 ** (dbfs / 20)).toFixed(8)}*sin(2*PI*${hz}*t)`
}

/** The ffmpeg expression for pseudo-random noise. Codecs compress it badly; its peak is about -6 dBFS. */
export const noise = '(random(0)-0.5)'

export type ImageFormat = 'jpeg' | 'png' | 'webp' | 'gif' | 'avif'

/** Creates a picture with a red left half and a blue right half. */
export async function makeImage(format: ImageFormat, width = 600, height = 400): Promise<Buffer> {
  return sharp(await halves(width, height))
    .toFormat(format)
    .toBuffer()
}

/** Creates a picture with EXIF orientation 6. If a reader respects it, the upper half is red and the lower half is blue. */
export async function makeRotatedImage(): Promise<Buffer> {
  return sharp(await halves(600, 400))
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer()
}

function halves(width: number, height: number): Promise<Buffer> {
  const left = { create: { width: Math.floor(width / 2), height, channels: 3 as const, background: '#c81e1e' } }
  const full = { create: { width, height, channels: 3 as const, background: '#1e3cc8' } }
  return sharp(full)
    .composite([{ input: left, left: 0, top: 0 }])
    .png()
    .toBuffer()
}

/** Adds a picture to an audio file as its attached cover. */
export async function withCover(format: 'mp3' | 'm4a' | 'flac', audio: Buffer, picture: Buffer): Promise<Buffer> {
  const container = { mp3: 'mp3', m4a: 'ipod', flac: 'flac' }[format]
  const args = ['-i', 'audio', '-i', 'picture', '-map', '0:a', '-map', '1:v', '-c', 'copy']
  return ffmpeg([...args, '-disposition:v:0', 'attached_pic', '-f', container], { audio, picture })
}

/** Overwrites a few bytes at `count` positions after the first tenth of the file. */
export function corrupt(file: Buffer, count = 20): Buffer {
  const damaged = Buffer.from(file)
  const start = Math.floor(file.length / 10)
  const step = Math.floor((file.length - start - 16) / count)
  for (let i = 0; i < count; i++) randomBytes(8).copy(damaged, start + i * step)
  return damaged
}

/** Returns the first part of a file, as if the connection was lost during its upload. */
export function truncate(file: Buffer, fraction: number): Buffer {
  return file.subarray(0, Math.floor(file.length * fraction))
}

/** Returns a WAV as recorders write it to a pipe, with a placeholder in the length fields. */
export function streamedWav(wav: Buffer, placeholder: 0 | 0xffffffff): Buffer {
  const file = Buffer.from(wav)
  file.writeUInt32LE(placeholder, 4)
  file.writeUInt32LE(placeholder, file.indexOf('data') + 4)
  return file
}

async function probe(entries: string, cwd: string): Promise<string> {
  const args = ['-v', 'error', '-show_entries', entries, '-of', 'json', 'file']
  return (await execute(fixtureTools.ffprobe, args, { cwd })).stdout
}

export type Probed = { codec: string; rate: number; channels: number; bits: number; duration: number; bitrate: number }

/** Returns the properties that ffprobe finds in an audio file. `bitrate` is that of the whole file, in kbit/s. */
export async function probeAudio(file: Buffer): Promise<Probed> {
  return inScratch({ file }, async (cwd) => {
    const entries = 'format=duration,bit_rate:stream=codec_name,sample_rate,channels,bits_per_raw_sample'
    const stdout = await probe(entries, cwd)
    const { streams, format } = JSON.parse(stdout)
    return {
      codec: streams[0].codec_name,
      rate: Number(streams[0].sample_rate),
      channels: streams[0].channels,
      bits: Number(streams[0].bits_per_raw_sample ?? 0),
      duration: Number(format.duration),
      bitrate: Number(format.bit_rate) / 1000,
    }
  })
}

/** Returns the tags that ffprobe finds in an audio file, with lower-case names, and the width of its picture in pixels, or null without a picture. */
export async function probeTags(file: Buffer): Promise<{ tags: Record<string, string>; picture: number | null }> {
  return inScratch({ file }, async (cwd) => {
    const entries = 'format_tags:stream_tags:stream=codec_type,width:stream_disposition=attached_pic'
    const stdout = await probe(entries, cwd)
    const { streams, format } = JSON.parse(stdout) as {
      streams: { codec_type: string; width?: number; disposition: { attached_pic: number } }[]
      format: { tags?: Record<string, string> }
    }
    const named = Object.entries(format.tags ?? {}).map(([name, value]) => [name.toLowerCase(), value])
    const picture = streams.find(({ disposition }) => disposition.attached_pic === 1)
    return { tags: Object.fromEntries(named), picture: picture?.width ?? null }
  })
}

/** Decodes a whole file and fails on any error in it. Returns the interleaved 16-bit samples at the file's sample rate. */
export async function decode(file: Buffer): Promise<Int16Array> {
  const pcm = await ffmpeg(['-xerror', '-i', 'in', '-c:a', 'pcm_s16le', '-f', 's16le'], { in: file })
  return new Int16Array(new Uint8Array(pcm).buffer, 0, pcm.length / 2)
}

async function inScratch<T>(files: Record<string, Buffer>, use: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'tonearm-fixture-'))
  try {
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(directory, name), bytes)
    return await use(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

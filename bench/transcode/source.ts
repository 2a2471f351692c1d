import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { music, RATE } from './music.ts'

/** Sources are cached here, because it takes half a minute to generate an hour of music. Git ignores `.cache`. */
const CACHE = join(import.meta.dirname, '../../.cache/bench')
/** Part of the cached files' names. Increase it when `music.ts` or the flags below change. */
const VERSION = 2

const formats = {
  flac: ['-c:a', 'flac', '-sample_fmt', 's16', '-f', 'flac'],
  mp3: ['-c:a', 'libmp3lame', '-b:a', '192k', '-f', 'mp3'],
}

export type SourceFormat = keyof typeof formats
export const sourceFormats = Object.keys(formats) as SourceFormat[]

/** Returns the path of a source file with `minutes` of music. */
export async function sourceFile(minutes: number, format: SourceFormat, ffmpeg: string): Promise<string> {
  const path = join(CACHE, `music-${VERSION}-${minutes}min.${format}`)
  if (await stat(path).catch(() => null)) return path
  const unfinished = `${path}.${process.pid}`
  await mkdir(CACHE, { recursive: true })
  try {
    await encode(Math.round(minutes * 60 * RATE), formats[format], ffmpeg, unfinished)
    await rename(unfinished, path)
  } finally {
    await rm(unfinished, { force: true })
  }
  return path
}

async function encode(frames: number, flags: string[], ffmpeg: string, path: string): Promise<void> {
  const child = spawn(ffmpeg, ['-v', 'error', '-y', '-f', 'wav', '-i', 'pipe:0', ...flags, `file:${path}`], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const exited = once(child, 'exit')
  await pipeline(Readable.from(wave(frames)), child.stdin)
  const [code] = await exited
  if (code !== 0) throw new Error(`${ffmpeg} could not make ${path}`)
}

function* wave(frames: number): Generator<Buffer> {
  const bytes = frames * 4
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + bytes, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20) // PCM
  header.writeUInt16LE(2, 22)
  header.writeUInt32LE(RATE, 24)
  header.writeUInt32LE(RATE * 4, 28)
  header.writeUInt16LE(4, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(bytes, 40)
  yield header
  yield* music(frames)
}

import { MAX_COVER_BYTES } from '../src/contract/facts.ts'
import type { Tools } from './ffmpeg.ts'
import { inputFlags, MAX_ALLOC } from './input.ts'
import { run } from './run.ts'
import type { Sniffed } from './sniff.ts'

type Request = { path: string; sniffed: Sniffed; stream: number; tools: Tools; signal: AbortSignal }

/** Copies an attached picture out of an audio file without decoding it; null when there is none that we take. */
export async function extractPicture({ path, sniffed, stream, tools, signal }: Request): Promise<Buffer | null> {
  const input = ['-hide_banner', '-nostdin', '-loglevel', 'error', ...MAX_ALLOC, ...inputFlags(sniffed)]
  const output = ['-map', `0:${stream}`, '-c', 'copy', '-frames:v', '1', '-f', 'image2pipe', 'pipe:1']
  const limits = { timeoutSeconds: 30, stdoutLimit: MAX_COVER_BYTES, signal }
  const exit = await run(tools.ffmpeg, [...input, '-i', `file:${path}`, ...output], limits)
  return exit.code === 0 && exit.stdout.length > 0 ? exit.stdout : null
}

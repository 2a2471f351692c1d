import { MAX_COVER_BYTES } from '../../src/contract/facts.ts'
import type { Warning } from '../../src/contract/info.ts'
import type { CoverOutputs, CoverResult } from '../../src/contract/job.ts'
import type { Sniffed } from '../../src/contract/sniff.ts'
import { JobError } from '../job_error.ts'
import type { Tools } from '../process/ffmpeg.ts'
import { run } from '../process/run.ts'
import { makeCover } from './cover.ts'
import { inputFlags, MAX_ALLOC } from './input.ts'
import type { Source } from './probe.ts'

type Request = {
  /** Null when the track has a cover already. */
  outputs: CoverOutputs | null
  source: Source
  sniffed: Sniffed
  path: string
  tools: Tools
  signal: AbortSignal
}

type Embedded = { cover: CoverResult | null; warnings: Warning[] }

/** Makes the cover of the picture inside an audio file; what is wrong with it never harms the audio. */
export async function embeddedCover(request: Request): Promise<Embedded> {
  const { outputs, source, signal } = request
  if (!outputs || source.picture === null) return { cover: null, warnings: [] }
  try {
    const image = await extractPicture(request, source.picture)
    if (!image) throw new JobError('unsupported_image', 'The embedded picture cannot be read.')
    return { cover: await makeCover(image, outputs, signal), warnings: [] }
  } catch (error) {
    signal.throwIfAborted()
    const message = error instanceof JobError ? error.message : 'The embedded picture cannot be used.'
    return { cover: null, warnings: [{ code: 'cover_failed', message }] }
  }
}

/** Copies an attached picture out of an audio file without decoding it; null when there is none that we take. */
async function extractPicture({ path, sniffed, tools, signal }: Request, stream: number): Promise<Buffer | null> {
  const input = ['-hide_banner', '-nostdin', '-loglevel', 'error', ...MAX_ALLOC, ...inputFlags(sniffed)]
  const output = ['-map', `0:${stream}`, '-c', 'copy', '-frames:v', '1', '-f', 'image2pipe', 'pipe:1']
  const limits = { timeoutSeconds: 30, stdoutLimit: MAX_COVER_BYTES, signal }
  const exit = await run(tools.ffmpeg, [...input, '-i', `file:${path}`, ...output], limits)
  return exit.code === 0 && exit.stdout.length > 0 ? exit.stdout : null
}

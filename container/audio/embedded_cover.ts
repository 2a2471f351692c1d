import { MAX_COVER_BYTES } from '../../src/contract/facts.ts'
import type { Warning } from '../../src/contract/info.ts'
import type { Sniffed } from '../../src/contract/sniff.ts'
import { JobError } from '../job_error.ts'
import type { Tools } from '../process/ffmpeg.ts'
import { run } from '../process/run.ts'
import type { Cover, DecodeCover } from './cover_decoder.ts'
import { inputFlags, MAX_ALLOC } from './source/input.ts'
import type { Source } from './source/probe.ts'

type Request = {
  source: Source
  sniffed: Sniffed
  path: string
  tools: Tools
  decodeCover: DecodeCover
  signal: AbortSignal
}

type Embedded = { cover: Cover | null; warnings: Warning[] }

/** Returns the picture inside an audio file as a cover. A broken picture never fails the job. */
export async function embeddedCover(request: Request): Promise<Embedded> {
  const { source, signal } = request
  if (source.picture === null) return { cover: null, warnings: [] }
  return withWarning(signal, async () => {
    const image = await extractPicture(request, source.picture!)
    if (!image) throw new JobError('unsupported_image', 'The embedded picture cannot be read.')
    return request.decodeCover(image, signal)
  })
}

/** Returns the result of `make`, or null and a warning if it fails. */
export async function withWarning<T>(signal: AbortSignal, make: () => Promise<T>) {
  try {
    return { cover: await make(), warnings: [] }
  } catch (error) {
    signal.throwIfAborted()
    const message = error instanceof JobError ? error.message : 'The embedded picture cannot be used.'
    return { cover: null, warnings: [{ code: 'cover_failed' as const, message }] }
  }
}

/** Extracts an attached picture from an audio file without decoding it. Returns null if the file has no usable picture. */
async function extractPicture({ path, sniffed, tools, signal }: Request, stream: number): Promise<Buffer | null> {
  const input = ['-hide_banner', '-nostdin', '-loglevel', 'error', ...MAX_ALLOC, ...inputFlags(sniffed)]
  const output = ['-map', `0:${stream}`, '-c', 'copy', '-frames:v', '1', '-f', 'image2pipe', 'pipe:1']
  const limits = { timeoutSeconds: 30, stdoutLimit: MAX_COVER_BYTES, signal }
  const exit = await run(tools.ffmpeg, [...input, '-i', `file:${path}`, ...output], limits)
  return exit.code === 0 && exit.stdout.length > 0 ? exit.stdout : null
}

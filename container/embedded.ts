import type { Warning } from '../src/contract/info.ts'
import type { CoverOutputs, CoverResult } from '../src/contract/job.ts'
import { makeCover } from './cover.ts'
import { Fault } from './fault.ts'
import type { Tools } from './ffmpeg.ts'
import { extractPicture } from './picture.ts'
import type { Source } from './probe.ts'
import type { Sniffed } from './sniff.ts'

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
export async function embeddedCover({ outputs, source, sniffed, path, tools, signal }: Request): Promise<Embedded> {
  if (!outputs || source.picture === null) return { cover: null, warnings: [] }
  try {
    const image = await extractPicture({ path, sniffed, stream: source.picture, tools, signal })
    if (!image) throw new Fault('unsupported_image', 'The embedded picture cannot be read.')
    return { cover: await makeCover(image, outputs, signal), warnings: [] }
  } catch (error) {
    signal.throwIfAborted()
    const message = error instanceof Fault ? error.message : 'The embedded picture cannot be used.'
    return { cover: null, warnings: [{ code: 'cover_failed', message }] }
  }
}

import { COVER_SIZES, type CoverSize } from '../../src/contract/facts.ts'
import type { CoverOutputs, CoverResult } from '../../src/contract/job.ts'
import { failpoint } from '../failpoint.ts'
import { upload } from '../transfer/upload.ts'
import type { Cover } from './cover_decoder.ts'

/** Uploads the squares of a cover to their URLs, and returns its palette. */
export async function uploadCover(cover: Cover, outputs: CoverOutputs, signal: AbortSignal): Promise<CoverResult> {
  const { squares, largeSquare, large, image_colors } = cover
  const put = (body: Uint8Array, url: string) => upload({ body, url, contentType: 'image/jpeg', signal })
  const names = Object.keys(COVER_SIZES) as CoverSize[]
  const hasLarge = largeSquare !== undefined && outputs.large !== undefined
  await Promise.all([
    ...names.map((name) => put(squares[name], outputs[name])),
    ...(hasLarge ? [put(largeSquare, outputs.large!)] : []),
  ])
  failpoint('cover_uploaded')
  return { image_colors, ...(hasLarge && { large }) }
}

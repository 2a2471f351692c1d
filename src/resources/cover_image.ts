import type { Sign } from '../adapters/presign.ts'
import { COVER_SIZES, type CoverSize } from '../contract/facts.ts'
import type { CoverImage } from '../contract/media.ts'

/** The three squares below a storage prefix, signed, or the neutral picture's when there is none. */
export async function coverImage(base_url: string, cover_path: string | null, sign: Sign): Promise<CoverImage> {
  const square = async <T extends CoverSize>(type: T) => {
    const size = COVER_SIZES[type]
    const url = cover_path ? await sign(`${cover_path}/${type}.jpg`) : `${base_url}/cover/${type}.jpg`
    return { type, width: size, height: size, url }
  }
  const [icon, small, regular] = await Promise.all([square('icon'), square('small'), square('regular')])
  return { icon, small, regular }
}

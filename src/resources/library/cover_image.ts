import type { Sign } from '../../adapters/bucket/presign.ts'
import type { FirstCover } from '../../adapters/db/first_cover.ts'
import { COVER_SIZES, type CoverSize } from '../../contract/facts.ts'
import type { CoverImage, OwnCover } from '../../contract/media.ts'

/** The three squares below a storage prefix, signed, or the neutral picture's when there is no cover. */
export async function coverImage(base_url: string, cover_path: string | null, sign: Sign): Promise<CoverImage> {
  const square = async <T extends CoverSize>(type: T) => {
    const size = COVER_SIZES[type]
    const url = cover_path ? await sign(`${cover_path}/${type}.jpg`) : `${base_url}/cover/${type}.jpg`
    return { type, width: size, height: size, url }
  }
  const [icon, small, regular] = await Promise.all([square('icon'), square('small'), square('regular')])
  return { icon, small, regular }
}

/** The stored columns of a cover: the prefix of its squares, and the edge length of the large one. */
export interface StoredCover {
  cover_path: string | null
  cover_size: number | null
}

/** The large square. Listeners' views omit it: it would be signed on each request, and playback does not need it. */
export async function largeCover({ cover_path, cover_size }: StoredCover, sign: Sign): Promise<OwnCover['large']> {
  if (cover_path === null || cover_size === null) return null
  return { type: 'large', width: cover_size, height: cover_size, url: await sign(`${cover_path}/large.jpg`) }
}

/** The cover of a collection: its own, or that of its first track. */
export const coverOrFirst = <T extends Pick<StoredCover, 'cover_path'>>(
  collection: T,
  first: FirstCover | null | undefined,
): T => (collection.cover_path === null && first ? { ...collection, ...first } : collection)

import type { MediaUrl } from '../../adapters/bucket/presign.ts'
import type { FirstCover } from '../../adapters/db/first_cover.ts'
import { COVER_SIZES, type CoverSize } from '../../contract/facts.ts'
import type { CoverImage, OwnCover } from '../../contract/media.ts'

/** Returns the signed URLs of the three squares below a storage prefix; without a cover, returns the URLs of the neutral picture. */
export async function coverImage(base_url: string, cover_path: string | null, mediaUrl: MediaUrl): Promise<CoverImage> {
  const square = async <T extends CoverSize>(type: T) => {
    const size = COVER_SIZES[type]
    const url = cover_path ? await mediaUrl(`${cover_path}/${type}.jpg`) : `${base_url}/cover/${type}.jpg`
    return { type, width: size, height: size, url }
  }
  const [icon, small, regular] = await Promise.all([square('icon'), square('small'), square('regular')])
  return { icon, small, regular }
}

/** The columns in which a cover is stored: the prefix of its squares, and the edge length of the large square. */
export interface StoredCover {
  cover_path: string | null
  cover_size: number | null
}

/**
 * Returns the large square. It is omitted in the views of listeners: playback does not need it, and its URL would have to be signed on each request.
 */
export async function largeCover(
  { cover_path, cover_size }: StoredCover,
  mediaUrl: MediaUrl,
): Promise<OwnCover['large']> {
  if (cover_path === null || cover_size === null) return null
  return { type: 'large', width: cover_size, height: cover_size, url: await mediaUrl(`${cover_path}/large.jpg`) }
}

/** Returns a collection with its own cover, or else with the cover of its first track. */
export const coverOrFirst = <T extends Pick<StoredCover, 'cover_path'>>(
  collection: T,
  first: FirstCover | null | undefined,
): T => (collection.cover_path === null && first ? { ...collection, ...first } : collection)

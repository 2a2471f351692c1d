import type { MediaUrl } from '../../adapters/bucket/presign.ts'
import type { FirstCover } from '../../adapters/db/first_cover.ts'
import { COVER_SIZES, type CoverSize, LARGE_COVER } from '../../contract/facts.ts'
import type { CoverImage, LargeCover } from '../../contract/media.ts'

/** Letters that Unicode does not decompose. */
const PLAIN: Record<string, string> = { Ø: 'O', Æ: 'A', Œ: 'O', Ł: 'L', Đ: 'D' }

/**
 * Returns the design of a generated cover (docs/decisions/0094), which is a part of its URL: `{initials}-{hue}-{levels}`. It is made of a title, and of levels in
 * hexadecimal as `hexLevels` reads them. The hue is that of `album`, so the tracks of a collection have the color of their collection.
 */
export function coverDesign(title: string, levels: string | null | undefined, album = title): string {
  const text = title
    .normalize('NFKD')
    .toUpperCase()
    .replace(/[\p{M}'’]/gu, '')
  const letters = text.match(/(?<![\p{L}\p{N}])[A-ZØÆŒŁĐ]/gu) ?? []
  const initials = letters.slice(0, 2).map((letter) => PLAIN[letter] ?? letter)
  // Every tenth level starts at a multiple of 25 digits. Its first digit has the upper 4 of its 10 bits.
  const wave = (levels ?? '').toLowerCase().replace(/(.).{0,24}/g, '$1')
  return `${initials.join('')}-${hueOf(album)}-${wave}`
}

/** Returns a hue in degrees for a text. The upper bits of FNV-1a also differ for texts that differ only in the last character. */
export function hueOf(text: string): number {
  let hash = 0x811c9dc5
  for (const char of text) hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193)
  return (hash >>> 16) % 360
}

/** The color of the ground of a generated cover with this hue, in CSS. */
export const tintOf = (hue: number) => `oklch(.4 .085 ${hue})`

/** The storage prefix of a cover's squares, or the design of a generated one (`coverDesign`). Without both, the cover is the neutral picture. */
export interface ShownCover {
  cover_path: string | null
  /** The edge length of the large square; missing if the query does not select it. */
  cover_size?: number | null
  design?: string | null | undefined
}

/** Returns the URLs of the three squares of a cover. Those of an uploaded cover are signed. */
export async function coverImage(
  base_url: string,
  { cover_path, design }: ShownCover,
  mediaUrl: MediaUrl,
): Promise<CoverImage> {
  const square = async <T extends CoverSize>(type: T) => {
    const size = COVER_SIZES[type]
    const url = cover_path
      ? await mediaUrl(`${cover_path}/${type}.jpg`)
      : `${base_url}/cover/${design ? `${design}/${type}.png` : `${type}.jpg`}`
    return { type, width: size, height: size, url }
  }
  const [icon, small, regular] = await Promise.all([square('icon'), square('small'), square('regular')])
  return { icon, small, regular }
}

/** Returns the large square of a cover; null if the uploaded picture is too small for one. */
export async function largeCover(
  base_url: string,
  { cover_path, cover_size, design }: ShownCover,
  mediaUrl: MediaUrl,
): Promise<LargeCover | null> {
  if (!cover_path && design)
    return { type: 'large', width: LARGE_COVER, height: LARGE_COVER, url: `${base_url}/cover/${design}/large.png` }
  if (!cover_path || !cover_size) return null
  return { type: 'large', width: cover_size, height: cover_size, url: await mediaUrl(`${cover_path}/large.jpg`) }
}

/** Returns a collection with its own cover, or else with the cover of its first track. */
export const coverOrFirst = <T extends Pick<ShownCover, 'cover_path'>>(
  collection: T,
  first: FirstCover | null | undefined,
): T => (collection.cover_path === null && first?.cover_path ? { ...collection, ...first } : collection)

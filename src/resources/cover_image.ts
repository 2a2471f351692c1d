import { signUrl } from '../adapters/media.ts'
import type { Context } from '../context.ts'
import { COVER_SIZES, type CoverSize } from '../contract/facts.ts'
import type { CoverImage } from '../contract/media.ts'

/** The three squares below a storage prefix, signed for some seconds, or the neutral picture's when there is none. */
export async function coverImage(
  { env, base_url }: Context,
  cover_path: string | null,
  expires_in: number,
): Promise<CoverImage> {
  const square = async <T extends CoverSize>(type: T) => {
    const size = COVER_SIZES[type]
    const url = cover_path
      ? await signUrl(env, 'GET', `${cover_path}/${type}.jpg`, { expires_in })
      : `${base_url}/cover/${type}.jpg`
    return { type, width: size, height: size, url }
  }
  const [icon, small, regular] = await Promise.all([square('icon'), square('small'), square('regular')])
  return { icon, small, regular }
}

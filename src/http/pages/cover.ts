import { COVER_SIZES, LARGE_COVER } from '../../contract/facts.ts'
import { notFound } from '../../core/errors.ts'
import { clientOf, mayRead, tooMany } from '../auth/limit_rate.ts'
import { drawCover, toSvg } from './cover_drawing.ts'

/** `GET /cover/{initials}-{hue}-{levels}/{size}.svg|png` draws a generated cover (docs/decisions/0094). Everything that it shows is in its URL. */

const PATH =
  /^\/cover\/([A-Z]{0,2})-(\d|[1-9]\d|[12]\d\d|3[0-5]\d)-([\da-f]{0,32})\/(icon|small|regular|large)\.(svg|png)$/
const SIZES: Record<string, number> = { ...COVER_SIZES, large: LARGE_COVER }

/**
 * Draws the cover with this path. Throws 404 for a path that `coverDesign` does not return. Only `large` PNGs count against the rate limit of the client:
 * each takes ten times the CPU of a play view, and pages need few of them.
 */
export async function answerCover(env: Env, { headers }: Request, path: string): Promise<Response> {
  const [, initials = '', hue, levels = '', name = '', format] = PATH.exec(path) ?? []
  const size = SIZES[name]
  if (size === undefined) throw notFound('cover')
  const isSvg = format === 'svg'
  if (name === 'large' && !isSvg && !(await mayRead(env, 'cover', clientOf(env, headers)))) throw tooMany()
  const drawing = drawCover(initials, Number(hue), levels)
  return new Response(isSvg ? toSvg(drawing, size) : await (await import('./cover_png.ts')).toPng(drawing, size), {
    headers: {
      'content-type': isSvg ? 'image/svg+xml' : 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'",
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
    },
  })
}

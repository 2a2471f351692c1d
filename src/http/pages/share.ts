import type { Context as Request, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'

import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import { isPassword } from '../../adapters/crypto/password.ts'
import { type Database, openDatabase, openForRequest } from '../../adapters/db/database.ts'
import type { Context } from '../../context.ts'
import { SLUG } from '../../contract/facts.ts'
import { PlaySessionCreate } from '../../contract/play.ts'
import { ApiError, notFound, unauthorized } from '../../core/errors.ts'
import { LISTENER } from '../../core/principal.ts'
import { playHandlers } from '../../resources/play/play.ts'
import { findZip } from '../../resources/play/zip.ts'
import { isShareKey } from '../../resources/share/share_holder.ts'
import { openShare, type ShareRow, linkPreview } from '../../resources/share/share_view.ts'
import { shareOf } from '../auth/authenticate.ts'
import { checkPassword, limitKey } from '../auth/limit_key.ts'
import { clientOf, limitReading } from '../auth/limit_rate.ts'
import { baseUrl } from '../base_url.ts'
import { type AppEnv, contextOf } from '../context.ts'
import { readNearest } from '../listen/read_nearest.ts'
import { answerPage, type AppearanceParameters, appearanceOf, problemOf, problemPage } from './page.ts'
import { qrCode } from './qr_code.ts'
import { passwordForm, showShare, STYLE } from './share_page.ts'

/**
 * The routes of a share: the page `/s/{slug}`, the same page for frames at `/embed/s/{slug}` (docs/decisions/0052), the image of the card, a QR code,
 * and the ZIP download.
 */

type Page = Request<AppEnv, '/s/:slug'>

const SHAPE = new RegExp(`^${SLUG}$`)

/** Returns the slug in its normal form; null if it is invalid. */
function normalizeSlug(text = ''): string | null {
  const slug = text.toLowerCase()
  return SHAPE.test(slug) ? slug : null
}

/** Returns the slug in the URL of a share's page or frame; null for other URLs. */
export function slugOf({ origin, pathname }: URL, base: string): string | null {
  const address = `${origin}${pathname}`
  if (!address.startsWith(`${base}/`)) return null
  return normalizeSlug(/^(?:\/embed)?\/s\/([^/]+)$/.exec(address.slice(base.length))?.[1])
}

/** Returns the slug of a request. Throws a 404 if the slug is invalid. */
function slugParam({ req }: Page): string {
  const slug = normalizeSlug(req.param('slug'))
  if (!slug) throw notFound('share')
  return slug
}

/**
 * Returns the page that the visitor may see: the share, or the form for its password. `password` is the visitor's input; it is undefined in a GET
 * request.
 */
async function answer(
  c: Page,
  context: Context,
  slug: string,
  appearance: AppearanceParameters | null,
  password: string | undefined,
) {
  const share = await openShare(context, slug)
  c.set('organization_id', share.organization_id)
  if (share.password_hash !== null) {
    const ask = (isWrong: boolean) => ({ share, title: 'Protected', body: passwordForm(appearance !== null, isWrong) })
    if (password === undefined) return { ...ask(false), status: 200 }
    const { password_hash } = share
    const isRight = () => isPassword(password, password_hash)
    if (!(await checkPassword(c.env, context.cache, share.id, clientOf(c.env, c.req.raw.headers), isRight)))
      return { ...ask(true), status: 403 }
  }
  return { ...(await showShare(context, share, appearance)), share, status: 200 }
}

/** The texts for a link that cannot be opened, and for a visitor who has entered too many passwords. */
const LINK_ENDED = { title: 'This link has ended', text: 'Ask for a new one where you found it.' }
const TOO_MANY_ATTEMPTS = { title: 'Too many attempts', text: 'Please try again in a minute.' }

/** Returns the origins whose pages may show a share in a frame. A password form may be shown only by the sites that the share lists. */
const ancestorsOf = ({ allowed_origins, password_hash }: ShareRow) =>
  allowed_origins === null && password_hash === null ? '*' : ["'self'", ...(allowed_origins ?? [])].join(' ')

async function respond(c: Page, cache: IsolateCache, isFrame: boolean, password?: string): Promise<Response> {
  const appearance = isFrame ? appearanceOf(c.req.url) : null
  const pageStyle = { theme: appearance?.theme, style: STYLE }
  try {
    const slug = slugParam(c)
    const answerFrom = (db: Database) => answer(c, contextOf(c, LISTENER, cache, db), slug, appearance, password)
    // A password is checked at the primary, because a replica may still have the previous one.
    const { share, ...page } = await limitReading(c, cache, `share:${slug}`, () =>
      password === undefined
        ? readNearest(c.env, ({ $client }) => answerFrom(openDatabase($client)))
        : answerFrom(openForRequest(c.env.DB)),
    )
    return await answerPage(c, {
      ...pageStyle,
      ...page,
      ancestors: ancestorsOf(share),
      form: "'self'",
      isPublic: share.password_hash === null && share.is_custom_slug && !isFrame,
    })
  } catch (error) {
    return problemPage(c, error, pageStyle, (error) => {
      const problem = problemOf(error)
      return {
        ...problem,
        ...(problem.status === 410
          ? LINK_ENDED
          : problem.status === 429 && password !== undefined && TOO_MANY_ATTEMPTS),
      }
    })
  }
}

/** Returns the value of a text field in a form. It is empty if the field is missing or the form cannot be parsed. */
async function formField({ req }: Request, name: string): Promise<string> {
  const form: Record<string, unknown> = await req.parseBody().catch(() => ({}))
  const { [name]: value } = form
  return typeof value === 'string' ? value : ''
}

/** Maximum bytes of a form with a password or a key. All characters may be escaped as `%xx`. */
const formLimit = bodyLimit({
  maxSize: 4096,
  onError: () => {
    throw new ApiError('payload_too_large', 'The form is too large')
  },
})

/** Creates a session that downloads a whole share as a ZIP. The caller must have the share's key. */
async function sessionForZip(c: Request<AppEnv>, cache: IsolateCache, key: string): Promise<string> {
  const { env, req } = c
  if (!isShareKey(key)) throw unauthorized('Send the key of the share as the field key')
  const holder = await shareOf(env, cache.keys, key, req.raw)
  await limitKey(env, holder, clientOf(env, req.raw.headers))
  const { scope, id } = holder.binding!
  const body = PlaySessionCreate.parse({ [`${scope}_id`]: id, is_downloadable: true })
  const context = contextOf(c, holder, cache, openForRequest(env.DB))
  const { play_session_id } = await playHandlers.createPlaySession({ params: { scope }, body } as never, context)
  await findZip(context, play_session_id)
  return play_session_id
}

export function mountShare(app: Hono<AppEnv>, cache: IsolateCache): void {
  for (const [path, isFrame] of [
    ['/s/:slug', false],
    ['/embed/s/:slug', true],
  ] as const) {
    app.get(path, (c) => respond(c as Page, cache, isFrame))
    app.post(path, formLimit, async (c) => respond(c, cache, isFrame, await formField(c, 'password')))
  }
  // The image of the card is a redirect to a signed URL, because cards are cached for longer than the hour for which a signed URL is valid.
  app.get('/s/:slug/cover.jpg', async (c) => {
    const slug = slugParam(c)
    const { embed } = await limitReading(c, cache, `share:${slug}`, () =>
      readNearest(c.env, ({ $client }) => linkPreview(contextOf(c, LISTENER, cache, openDatabase($client)), slug)),
    )
    const size = c.req.query('size')
    const picture = Object.values(embed.cover_image).find(({ type }) => type === size) ?? embed.card_image
    c.header('cache-control', 'no-store')
    return c.redirect(picture.url)
  })
  // The QR code is generated for any valid slug, so it does not reveal whether a share exists.
  app.get('/s/:slug/qr.svg', async (c) => {
    const drawing = qrCode(`${baseUrl(c.env, c.req.url)}/s/${slugParam(c)}`)
    if (!drawing) throw notFound('share')
    return c.body(drawing, 200, {
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=86400',
      'content-security-policy': "default-src 'none'",
    })
  })
  app.post('/s/:slug/zip', formLimit, async (c) => {
    try {
      return c.redirect(`/zip/${await sessionForZip(c, cache, await formField(c, 'key'))}`, 303)
    } catch (error) {
      return problemPage(c, error, { style: STYLE }, ({ status, message }) => ({
        status,
        ...(status === 401 ? LINK_ENDED : { title: 'This cannot be downloaded', text: message }),
      }))
    }
  })
}

import type { Context as Request, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'

import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import { isPassword } from '../../adapters/crypto/password.ts'
import { openForRequest } from '../../adapters/db/database.ts'
import { PlaySessionCreate } from '../../contract/play.ts'
import { ApiError, notFound, unauthorized } from '../../core/errors.ts'
import { LISTENER } from '../../core/principal.ts'
import { playHandlers } from '../../resources/play/play.ts'
import { findZip } from '../../resources/play/zip.ts'
import { isShareKey } from '../../resources/share/share_holder.ts'
import { linkPreview } from '../../resources/share/share_view.ts'
import { requestId } from '../answer.ts'
import { shareOf } from '../auth/authenticate.ts'
import { checkPassword, limitKey } from '../auth/limit_key.ts'
import { clientOf, limitReading } from '../auth/limit_rate.ts'
import { baseUrl } from '../base_url.ts'
import { type AppEnv, contextOf } from '../context.ts'
import type { ListenerRequest } from '../listen/answer_listener.ts'
import { readNearest } from '../listen/read_nearest.ts'
import { answerCover } from './cover.ts'
import { answerEmbed } from './embed.ts'
import { problemPage } from './page.ts'
import { answerShare, endedCard, normalizeSlug } from './share_page.ts'

/**
 * The routes of a share: the page `/s/{slug}`, the same page for frames at `/embed/s/{slug}` (docs/decisions/0052), the image of the card, a QR code,
 * the podcast feed, and the ZIP download.
 */

type Page = Request<AppEnv, '/s/:slug'>

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

/** Signs a session that downloads a whole share as a ZIP. The caller must have the share's key. */
async function sessionForZip(c: Request<AppEnv>, cache: IsolateCache, key: string): Promise<string> {
  const { env, req } = c
  if (!isShareKey(key)) throw unauthorized('Send the key of the share as the field key')
  const holder = await shareOf(env, cache.keys, key, req.raw)
  await limitKey(env, holder, clientOf(env, req.raw.headers))
  const { scope, id } = holder.binding!
  const body = PlaySessionCreate.parse({ [`${scope}_id`]: id, is_downloadable: true })
  // The form is on the page of the share, but browsers send `Origin: null` with it, because the page sends no referrer.
  const context = { ...contextOf(c, holder, cache, openForRequest(env.DB)), origin: null }
  const { play_session_id } = await playHandlers.createPlaySession({ params: { scope }, body } as never, context)
  await findZip(context, play_session_id)
  return play_session_id
}

/** Returns a request in the form in which src/http/first_requests.ts passes it on. */
const listenerOf = (c: Request<AppEnv>): ListenerRequest => ({
  id: requestId(c),
  env: c.env,
  req: { raw: c.req.raw, url: c.req.url },
  set: (name, value) => c.set(name, value),
})

/** Adds the pages with a player. Most requests for them are answered before the app is loaded (src/http/first_requests.ts). */
export function mountPages(app: Hono<AppEnv>, cache: IsolateCache): void {
  app.get('/cover/:design/:file', (c) => answerCover(c.env, c.req.raw, c.req.path))
  app.get('/embed/:play_session_id', (c) =>
    answerEmbed(listenerOf(c), cache, c.req.param('play_session_id').toLowerCase()),
  )
  for (const [path, isFrame] of [
    ['/s/:slug', false],
    ['/embed/s/:slug', true],
  ] as const) {
    app.get(path, (c) => answerShare(listenerOf(c), cache, c.req.param('slug'), isFrame))
    app.post(path, formLimit, async (c) => {
      const password = await formField(c, 'password')
      const client = clientOf(c.env, c.req.raw.headers)
      return answerShare(listenerOf(c), cache, c.req.param('slug'), isFrame, ({ id, password_hash }) =>
        checkPassword(c.env, cache, id, client, () => isPassword(password, password_hash!)),
      )
    })
  }
  // The image of the card is a redirect to a signed URL, because cards are cached for longer than the hour for which a signed URL is valid.
  app.get('/s/:slug/cover.jpg', async (c) => {
    const slug = slugParam(c)
    const { embed } = await limitReading(c, cache, `share:${slug}`, () =>
      readNearest(c.env, (client) => linkPreview(contextOf(c, LISTENER, cache, client), slug)),
    )
    const size = c.req.query('size')
    const sized = Object.values(embed.cover_image).find(({ type }) => type === size)
    const picture = sized ?? embed.card_image
    c.header('cache-control', 'no-store')
    // Directories of podcasts ask with HEAD first, which a URL that is signed for GET refuses.
    const stored =
      c.req.method === 'HEAD' && !sized && embed.card_path !== null && (await c.env.MEDIA.head(embed.card_path))
    if (!stored) return c.redirect(picture.url)
    const headers = { 'content-type': 'image/jpeg', 'content-length': String(stored.size), etag: stored.httpEtag }
    return c.body(null, 200, headers)
  })
  app.get('/s/:slug/feed.xml', async (c) => (await import('./feed.ts')).answerFeed(c, cache, slugParam(c)))
  app.get('/s/:slug/feed/:file{[0-9a-f-]{36}\\.chapters\\.json}', async (c) =>
    (await import('./feed.ts')).answerChapters(c, cache, slugParam(c), c.req.param('file').slice(0, 36)),
  )
  // The QR code is generated for any valid slug, so it does not reveal whether a share exists.
  app.get('/s/:slug/qr.svg', async (c) => {
    const { qrCode } = await import('./qr_code.ts')
    return c.body(qrCode(`${baseUrl(c.env, c.req.url)}/s/${slugParam(c)}`), 200, {
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=86400',
      'content-security-policy': "default-src 'none'",
    })
  })
  app.post('/s/:slug/zip', formLimit, async (c) => {
    try {
      return c.redirect(`/zip/${await sessionForZip(c, cache, await formField(c, 'key'))}`, 303)
    } catch (error) {
      return problemPage(listenerOf(c), error, await endedCard(c.req.param('slug')), ({ status, message }, texts) => ({
        status,
        ...(status === 401 ? texts.linkEnded : { title: texts.noDownload, text: message }),
      }))
    }
  })
}

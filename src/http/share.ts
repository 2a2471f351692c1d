import type { Context as Request, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'

import { openDatabase } from '../adapters/database.ts'
import type { Memory } from '../adapters/memory.ts'
import { isPassword } from '../adapters/password.ts'
import { SLUG } from '../contract/facts.ts'
import { PlaySessionCreate } from '../contract/play.ts'
import { ApiError, notFound, unauthorized } from '../errors.ts'
import { LISTENER } from '../principal.ts'
import { playHandlers } from '../resources/play.ts'
import { isShareKey } from '../resources/share_holder.ts'
import { openShare, type ShareRow, unfurledShare } from '../resources/share_view.ts'
import { findZip } from '../resources/zip.ts'
import { shareOf } from './authenticate.ts'
import { baseUrl } from './base_url.ts'
import { type AppEnv, contextOf } from './context.ts'
import { limitKey, limitPasswords } from './limit_key.ts'
import { clientOf, limitReading } from './limit_rate.ts'
import { answerPage, type Looks, looksOf, problemOf, problemPage } from './page.ts'
import { qrCode } from './qr_code.ts'
import { passwordForm, showShare, STYLE } from './share_page.ts'

/**
 * What is at the address of a share: its page, `/s/{slug}`, the same for frames, `/embed/s/{slug}` (docs/decisions/0052), and below it the
 * card's picture, a QR code and the way to its ZIP.
 */

type Page = Request<AppEnv, '/s/:slug'>

const SHAPE = new RegExp(`^${SLUG}$`)

/** A slug as it is kept; null for what can be none. */
function slugIn(text = ''): string | null {
  const slug = text.toLowerCase()
  return SHAPE.test(slug) ? slug : null
}

/** The slug of an address of a share's page or frame. */
export function slugOf({ origin, pathname }: URL, base: string): string | null {
  const address = `${origin}${pathname}`
  if (!address.startsWith(`${base}/`)) return null
  return slugIn(/^(?:\/embed)?\/s\/([^/]+)$/.exec(address.slice(base.length))?.[1])
}

/** The slug that a request names. */
function slugParam({ req }: Page): string {
  const slug = slugIn(req.param('slug'))
  if (!slug) throw notFound('share')
  return slug
}

/** What an address shows, and to whom it shows it. `password` is what a visitor has typed. */
async function answer(c: Page, memory: Memory, slug: string, looks: Looks | null, password: string | undefined) {
  const context = contextOf(c, LISTENER, memory, openDatabase(c.env.DB))
  const share = await openShare(c.env, slug, context.now)
  c.set('organization_id', share.organization_id)
  if (share.password_hash !== null) {
    const ask = (isWrong: boolean) => ({ share, title: 'Protected', body: passwordForm(looks !== null, isWrong) })
    if (password === undefined) return { ...ask(false), status: 200 }
    await limitPasswords(c.env, share.id, clientOf(c.req.raw.headers))
    if (!(await isPassword(password, share.password_hash))) return { ...ask(true), status: 403 }
  }
  return { ...(await showShare(context, share, looks)), share, status: 200 }
}

/** What a visitor reads when it does not open. */
const ENDED = { title: 'This link has ended', text: 'Ask for a new one where you found it.' }
const TRIED = { title: 'Too many attempts', text: 'Please try again in a minute.' }

/** Origins of the pages that may show a share in a frame. Where a password is asked for, no site that the share does not name. */
const ancestorsOf = ({ allowed_origins, password_hash }: ShareRow) =>
  allowed_origins === null && password_hash === null ? '*' : ["'self'", ...(allowed_origins ?? [])].join(' ')

async function respond(c: Page, memory: Memory, isFrame: boolean, password?: string): Promise<Response> {
  const looks = isFrame ? looksOf(c.req.url) : null
  const look = { theme: looks?.theme, style: STYLE }
  try {
    const slug = slugParam(c)
    const { share, ...shown } = await limitReading(c, memory, `share:${slug}`, () =>
      answer(c, memory, slug, looks, password),
    )
    return await answerPage(c, {
      ...look,
      ...shown,
      ancestors: ancestorsOf(share),
      form: "'self'",
      isPublic: share.password_hash === null && share.is_slug_own && !isFrame,
    })
  } catch (error) {
    return problemPage(c, error, look, (error) => {
      const said = problemOf(error)
      return { ...said, ...(said.status === 410 ? ENDED : said.status === 429 && password !== undefined && TRIED) }
    })
  }
}

/** A text field of a form; empty where there is none, or no form that can be read. */
async function formField({ req }: Request, name: string): Promise<string> {
  const form: Record<string, unknown> = await req.parseBody().catch(() => ({}))
  const { [name]: value } = form
  return typeof value === 'string' ? value : ''
}

/** Bytes of a form with a password or a key: all of it may be written as `%xx`. */
const formLimit = bodyLimit({
  maxSize: 4096,
  onError: () => {
    throw new ApiError('payload_too_large', 'The form is too large')
  },
})

/** A session that plays all of a share as a ZIP, of who has the share's key. */
async function sessionForZip(c: Request<AppEnv>, memory: Memory, key: string): Promise<string> {
  const { env, req } = c
  if (!isShareKey(key)) throw unauthorized('Send the key of the share as the field key')
  const holder = await shareOf(env, memory.keys, key, req.raw)
  await limitKey(env, holder, clientOf(req.raw.headers))
  const { scope, id } = holder.binding!
  const body = PlaySessionCreate.parse({ [`${scope}_id`]: id, is_downloadable: true })
  const context = contextOf(c, holder, memory, openDatabase(env.DB))
  const { play_session_id } = await playHandlers.createPlaySession({ params: { scope }, body } as never, context)
  await findZip(context, play_session_id)
  return play_session_id
}

export function mountShare(app: Hono<AppEnv>, memory: Memory): void {
  for (const [path, isFrame] of [
    ['/s/:slug', false],
    ['/embed/s/:slug', true],
  ] as const) {
    app.get(path, (c) => respond(c as Page, memory, isFrame))
    app.post(path, formLimit, async (c) => respond(c, memory, isFrame, await formField(c, 'password')))
  }
  // The card's picture. What it leads to is signed for an hour, and cards are kept for longer.
  app.get('/s/:slug/cover.jpg', async (c) => {
    const slug = slugParam(c)
    const context = contextOf(c, LISTENER, memory, openDatabase(c.env.DB))
    const { embed } = await limitReading(c, memory, `share:${slug}`, () => unfurledShare(context, slug))
    const size = c.req.query('size')
    const picture = Object.values(embed.cover_image).find(({ type }) => type === size) ?? embed.card_image
    c.header('cache-control', 'no-store')
    return c.redirect(picture.url)
  })
  // An address is drawn whether or not there is something at it: this tells nothing of any share.
  app.get('/s/:slug/qr.svg', async (c) => {
    const drawing = qrCode(`${baseUrl(c.env, c.req.url)}/s/${slugParam(c)}`)
    if (!drawing) throw notFound('share')
    return c.body(drawing, 200, {
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=86400',
      'content-security-policy': "default-src 'none'",
      'x-content-type-options': 'nosniff',
    })
  })
  app.post('/s/:slug/zip', formLimit, async (c) => {
    try {
      return c.redirect(`/zip/${await sessionForZip(c, memory, await formField(c, 'key'))}`, 303)
    } catch (error) {
      return problemPage(c, error, { style: STYLE }, ({ status, message }) => ({
        status,
        ...(status === 401 ? ENDED : { title: 'This cannot be downloaded', text: message }),
      }))
    }
  })
}

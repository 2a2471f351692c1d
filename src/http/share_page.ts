import type { Context as Request, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { html } from 'hono/html'

import { openDatabase } from '../adapters/database.ts'
import type { Memory } from '../adapters/memory.ts'
import { isPassword } from '../adapters/password.ts'
import type { Context } from '../context.ts'
import { clock, SHARE_SESSION_TTL } from '../contract/facts.ts'
import { ApiError, notFound } from '../errors.ts'
import { LISTENER } from '../principal.ts'
import { listedTracks } from '../resources/session_view.ts'
import { shareKey } from '../resources/share_holder.ts'
import {
  embedOfShare,
  keptCount,
  openShare,
  type ShareRow,
  unfoldedShare,
  withLastingPictures,
} from '../resources/share_view.ts'
import { baseUrl } from './base_url.ts'
import { type AppEnv, contextOf } from './context.ts'
import { attributesOf, cardOf, FRAME, headers, type Html, looksOf, message, page, PLAYER, problemOf } from './embed.ts'
import { limitPasswords } from './limit_key.ts'
import { clientOf, limitReading } from './limit_rate.ts'
import { qrCode } from './qr_code.ts'

/** The page of a share, `/s/{slug}`, and the same for frames, `/embed/s/{slug}` (docs/decisions/0052). */

export const STYLE = `
  .share { max-width: 720px; margin: 0 auto; padding: clamp(16px, 5vw, 48px); display: grid; gap: 24px }
  .share header { display: flex; flex-wrap: wrap; gap: 24px; align-items: end }
  .share img { width: min(200px, 40vw); height: auto; aspect-ratio: 1; border-radius: 12px; object-fit: cover }
  .share header div { flex: 1 1 240px; min-width: 0 }
  .share h1 { font-size: clamp(1.5rem, 5vw, 2.25rem); line-height: 1.15; overflow-wrap: anywhere }
  .share .by { color: var(--text); font-size: 1.125rem; overflow-wrap: anywhere }
  .share tonearm-player { height: auto; --tonearm-waveform-height: 56px; --tonearm-list-height: none }
  .share header:has(img) + tonearm-player { --tonearm-cover-size: 76px }
  .page { background: var(--ground); min-height: 100% }
  form { display: grid; gap: 8px; justify-items: center }
  input, button { font: inherit; padding: 8px 14px; border-radius: 8px; border: 1px solid var(--soft); color: inherit;
    background: transparent }
  button { cursor: pointer }
  :is(input, button):focus-visible { outline: 2px solid; outline-offset: 2px }
  .share form { justify-items: start }
  .wrong { color: light-dark(#b3261e, #ff8a80) }
  ol { padding-inline-start: 1.5em }
`

/** Tracks that a page lists itself. */
const PAGE_ROWS = 100

const KINDS = { track: 'Track', collection: 'Album', playlist: 'Playlist' }

const SLUG = /^[a-z0-9-]{3,64}$/

/** The slug of an address of a share's page or frame. */
export function slugOf({ origin, pathname }: URL, base: string): string | null {
  const [, slug = ''] = /^(?:\/embed)?\/s\/([\w-]+)$/.exec(`${origin}${pathname}`.slice(base.length)) ?? []
  return `${origin}${pathname}`.startsWith(`${base}/`) && SLUG.test(slug.toLowerCase()) ? slug.toLowerCase() : null
}

/** Browsers let no frame of another origin take the focus by itself, and say so in the console. */
const passwordForm = (isFrame: boolean, isWrong: boolean) =>
  html`<main class="message">
    <h1>This is protected by a password</h1>
    <form method="post">
      <label for="password">Password</label>
      <input
        id="password"
        name="password"
        type="password"
        maxlength="128"
        required
        ${isFrame ? '' : html` autofocus`}
        autocomplete="current-password"
        ${isWrong ? html` aria-invalid="true" aria-describedby="wrong"` : ''}
      />
      ${isWrong ? html`<p class="wrong" id="wrong" role="alert">This is not the password.</p>` : ''}
      <button>Open</button>
    </form>
  </main>`

/** A form and no link, because each download makes a session. */
const zipForm = (slug: string, secret: string) =>
  html`<form method="post" action="/s/${slug}/zip">
    <input type="hidden" name="key" value="${secret}" />
    <button>Download all (ZIP)</button>
  </form>`

/** What a visitor reads when it does not open. */
export const words = {
  ended: { title: 'This link has ended', text: 'Ask for a new one where you found it.' },
  tried: { title: 'Too many attempts', text: 'Please try again in a minute.' },
}

interface Answer {
  status: 200 | 403
  title: string
  head?: Html
  body: Html
  share: ShareRow
  isOpen: boolean
}

type Page = Request<AppEnv, '/s/:slug'>

/** What an address shows, and to whom it shows it. `password` is what a visitor has typed. */
async function answer(c: Page, memory: Memory, isFrame: boolean, password: string | undefined): Promise<Answer> {
  const slug = c.req.param('slug').toLowerCase()
  if (!SLUG.test(slug)) throw notFound('share')
  const context = contextOf(c, LISTENER, memory, openDatabase(c.env.DB))
  const share = await openShare(c.env, slug, context.now)
  c.set('organization_id', share.organization_id)
  if (share.password_hash !== null) {
    const locked = { title: 'Protected', share, isOpen: false } as const
    if (password === undefined) return { ...locked, status: 200, body: passwordForm(isFrame, false) }
    await limitPasswords(c.env, share.id, clientOf(c.req.raw.headers))
    if (!(await isPassword(password, share.password_hash)))
      return { ...locked, status: 403, body: passwordForm(isFrame, true) }
  }
  return { ...(await showShare(c, context, share, isFrame)), status: 200, share, isOpen: true }
}

/** Title, head and body of a share that its visitor may see. */
async function showShare(c: Page, context: Context, share: ShareRow, isFrame: boolean) {
  const { slug } = share
  // What is listed is read by who has no script; a frame shows none of it.
  const [embed, tracks] = await Promise.all([
    embedOfShare(context, share),
    isFrame ? [] : listedTracks(context, share, PAGE_ROWS + 1),
  ])
  const base = context.base_url
  const address = `${base}/s/${slug}`
  const { title, subtitle, cover_image, has_cover } = embed
  // Nothing of a locked share is told to those who unfurl links; they see the form.
  const oembed = `${base}/oembed?format=json&url=${encodeURIComponent(address)}`
  const head = html`${
      share.password_hash === null
        ? html`${cardOf(withLastingPictures(embed, address), address)}
            <link rel="canonical" href="${address}" />
            <link rel="alternate" type="application/json+oembed" href="${oembed}" title="${title}" />`
        : ''
    }
    <script type="module" src="${PLAYER}"></script>
    ${isFrame ? html`<script type="module" src="${FRAME}"></script>` : ''}`
  const secret = await shareKey(c.env, share, context.now)
  const player = html`<tonearm-player${attributesOf({
    'base-url': base,
    'api-key': secret,
    scope: share.scope,
    'resource-id': share.resource_id,
    'expires-in': SHARE_SESSION_TTL,
    share: address,
    ...(share.variants && { variants: share.variants.join(' ') }),
    ...(share.is_downloadable && { download: '' }),
    ...(isFrame && looksOf(new URL(c.req.url).searchParams)),
  })}></tonearm-player>`
  const needsScript = html`<noscript>
    <div class="message">
      <h1>${title}</h1>
      <p>The player needs JavaScript.</p>
    </div>
  </noscript>`
  if (isFrame) return { title, head, body: html`${player}${needsScript}` }
  const isLong = tracks.length > PAGE_ROWS
  const total = isLong ? await keptCount(context, share) : tracks.length
  const seconds = isLong ? 0 : tracks.reduce((sum, { duration }) => sum + duration, 0)
  const count = total === 1 ? '1 track' : `${total} tracks`
  const facts = [
    KINDS[share.scope],
    ...(share.scope === 'track' ? [] : [count]),
    ...(seconds > 0 ? [clock(seconds)] : []),
  ]
  const body = html`<div class="page">
    <main class="share">
      <header>
        ${has_cover ? html`<img src="${cover_image.regular.url}" width="400" height="400" alt="" />` : ''}
        <div>
          <h1>${title}</h1>
          ${subtitle ? html`<p class="by">${subtitle}</p>` : ''}
          <p>${facts.join(' · ')}</p>
        </div>
      </header>
      ${player}${share.is_downloadable && tracks.length > 1 ? zipForm(slug, secret) : ''}
      <noscript>
        <p>The player needs JavaScript.</p>
        <ol>
          ${tracks.slice(0, PAGE_ROWS).map((track) => html`<li>${track.player_title} (${clock(track.duration)})</li>`)}
        </ol>
        ${isLong ? html`<p>and ${total - PAGE_ROWS} more</p>` : ''}
      </noscript>
    </main>
  </div>`
  return { title: subtitle ? `${title} – ${subtitle}` : title, head, body }
}

async function respond(c: Page, memory: Memory, isFrame: boolean, password?: string): Promise<Response> {
  const nonce = crypto.randomUUID()
  const theme = (isFrame && looksOf(new URL(c.req.url).searchParams).theme) || 'auto'
  const write = async (title: string, head: Html | '', body: Html) =>
    String(await page(nonce, title, theme, head, body, STYLE))
  try {
    const secret = `share:${c.req.param('slug').toLowerCase()}`
    const shown = await limitReading(c, memory, secret, () => answer(c, memory, isFrame, password))
    const { status, title, head = '', body, share, isOpen } = shown
    const more = headers(nonce, {
      ancestors: share.allowed_origins ? ["'self'", ...share.allowed_origins].join(' ') : '*',
      form: "'self'",
      isPublic: isOpen && share.password_hash === null && share.is_slug_own && !isFrame,
    })
    return c.body(await write(title, head, body), status, more)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { status, ...said } = problemOf(error)
    const { title, text } = status === 410 ? words.ended : status === 429 && password !== undefined ? words.tried : said
    return c.body(await write(title, '', message(title, text)), status, { ...headers(nonce), ...error.headers })
  }
}

/** A text field of a form; empty where there is none, or no form that can be read. */
export async function formField({ req }: Request, name: string): Promise<string> {
  const form: Record<string, unknown> = await req.parseBody().catch(() => ({}))
  const { [name]: value } = form
  return typeof value === 'string' ? value : ''
}

/** Bytes of a form with a password or a key: all of it may be written as `%xx`. */
export const formLimit = bodyLimit({
  maxSize: 4096,
  onError: () => {
    throw new ApiError('payload_too_large', 'The form is too large')
  },
})

export function mountSharePage(app: Hono<AppEnv>, memory: Memory): void {
  for (const [path, isFrame] of [
    ['/s/:slug', false],
    ['/embed/s/:slug', true],
  ] as const) {
    app.get(path, (c) => respond(c as Page, memory, isFrame))
    app.post(path, formLimit, async (c) => respond(c, memory, isFrame, await formField(c, 'password')))
  }
  // The card's picture. What it leads to is signed for an hour, and cards are kept for longer.
  app.get('/s/:slug/cover.jpg', async (c) => {
    const slug = c.req.param('slug').toLowerCase()
    const context = contextOf(c, LISTENER, memory, openDatabase(c.env.DB))
    const { embed } = await limitReading(c, memory, `share:${slug}`, () => unfoldedShare(context, slug))
    const size = c.req.query('size')
    const picture = Object.values(embed.cover_image).find(({ type }) => type === size) ?? embed.card_image
    c.header('cache-control', 'no-store')
    return c.redirect(picture.url)
  })
  // An address is drawn whether or not there is something at it: this tells nothing of any share.
  app.get('/s/:slug/qr.svg', async (c) => {
    const slug = c.req.param('slug').toLowerCase()
    const drawing = SLUG.test(slug) && qrCode(`${baseUrl(c.env, c.req.url)}/s/${slug}`)
    if (!drawing) throw notFound('share')
    return c.body(drawing, 200, {
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=86400',
      'content-security-policy': "default-src 'none'",
      'x-content-type-options': 'nosniff',
    })
  })
}

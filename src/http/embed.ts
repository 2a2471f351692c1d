import type { Hono } from 'hono'
import { html, raw } from 'hono/html'

import { openDatabase } from '../adapters/database.ts'
import type { Memory } from '../adapters/memory.ts'
import { Id } from '../contract/common.ts'
import { ApiError } from '../errors.ts'
import { LISTENER } from '../principal.ts'
import { type Embed, findEmbed } from '../resources/embed.ts'
import { baseUrl } from './base_url.ts'
import { type AppEnv, contextOf } from './context.ts'
import { limitReading } from './limit_rate.ts'

/** Where the element's module lies; it leads to files whose names hold their hash. */
export const PLAYER = '/elements/player.js'
/** Lets the page around the frame move the player. */
export const FRAME = '/elements/frame.js'

/** What the address may say of the looks, each with the values that it may have; they become attributes of the element. */
const LOOKS = {
  layout: /^(full|compact)$/,
  theme: /^(auto|light|dark)$/,
  accent: /^#?[0-9A-Fa-f]{6}$/,
}

/** The looks of an embed's address that are valid, with the `#` of a color. */
export function looksOf(search: URLSearchParams): Record<string, string> {
  const given = Object.entries(LOOKS).flatMap(([name, valid]) => {
    const value = search.get(name)
    return value && valid.test(value) ? [[name, name === 'accent' ? `#${value.replace('#', '')}` : value]] : []
  })
  return Object.fromEntries(given) as Record<string, string>
}

/** Attributes of an element, each behind a space. */
export const attributesOf = (attributes: Record<string, string | number>): Html[] =>
  Object.entries(attributes).map(([name, value]) => html` ${name}="${value}"`)

/** The player fills the frame: above its list are 268 pixels, or 304 and more where it is narrow; the waveform takes the rest. */
const STYLE = `
  :root { color-scheme: light dark; --ground: light-dark(#fff, #17181c); --text: light-dark(#1c1d21, #eceef2);
    --soft: light-dark(#62646d, #a2a6b1); }
  :root[data-theme=light] { color-scheme: light }
  :root[data-theme=dark] { color-scheme: dark }
  * { box-sizing: border-box }
  html, body { height: 100%; margin: 0 }
  body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: transparent }
  tonearm-player { display: block; max-width: 100%; height: 100%; --tonearm-waveform-height: 100%;
    --tonearm-list-height: calc(100vh - 268px) }
  @media (width < 560px) { tonearm-player { --tonearm-list-height: calc(100vh - 304px) } }
  .message { display: grid; place-content: center; gap: 4px; min-height: 100%; padding: 24px; text-align: center;
    background: var(--ground) }
  h1 { font-size: 1.125rem; margin: 0 }
  p { margin: 0; color: var(--soft) }
`

/** A page may stand in a frame on any origin, unless some are named; it loads scripts from here only, and tells nobody its address. */
export const headers = (
  nonce: string,
  {
    ancestors = '*',
    form = "'none'",
    isPublic = false,
  }: { ancestors?: string; form?: string; isPublic?: boolean } = {},
) => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'nonce-${nonce}'`,
    "img-src 'self' http: https: data: blob:",
    'media-src http: https: blob:',
    "connect-src 'self' http: https:",
    "base-uri 'none'",
    `form-action ${form}`,
    `frame-ancestors ${ancestors}`,
  ].join('; '),
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  ...(!isPublic && { 'x-robots-tag': 'noindex' }),
})

export type Html = ReturnType<typeof html>

export const page = (nonce: string, title: string, theme: string, head: Html | '', body: Html, style = '') =>
  html`<!doctype html>
    <html lang="en" data-theme="${theme}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="/cover/icon.jpg" />
        <style nonce="${nonce}">
          ${raw(STYLE + style)}
        </style>
        ${head}
      </head>
      <body>
        ${body}
      </body>
    </html>`

/** A session's scopes in the words of https://ogp.me. */
const KINDS = { track: 'music.song', collection: 'music.album', playlist: 'music.playlist' }

/** A link to the page as a card (https://ogp.me, which X reads too), with what the page itself shows and no more. */
export function cardOf({ scope, title, subtitle, card_image, has_cover }: Embed, address: string): Html[] {
  const { url, width, height } = card_image
  const image = { 'og:image': url, 'og:image:width': width, 'og:image:height': height, 'og:image:alt': title }
  const card = {
    'og:type': KINDS[scope],
    'og:title': title,
    ...(subtitle && { 'og:description': subtitle }),
    'og:url': address,
    'og:site_name': 'Tonearm',
    ...(has_cover && image),
  }
  return [
    ...Object.entries(card).map(([property, content]) => html`<meta property="${property}" content="${content}" />`),
    html`<meta name="twitter:card" content="summary" />`,
  ]
}

/** What a visitor reads in place of a player. */
export function problemOf(error: ApiError): { status: 404 | 410 | 429; title: string; text: string } {
  if (error.status === 410)
    return {
      status: 410,
      title: 'This player has expired',
      text: 'Links to listen end after a while. Ask for a new one where you found it.',
    }
  if (error.status === 429)
    return { status: 429, title: 'Too many listeners at once', text: 'Please try again in a minute.' }
  return {
    status: 404,
    title: 'There is nothing to play here',
    text: 'The link may be incomplete, or the music is gone.',
  }
}

/** What stands in place of a player. */
export const message = (title: string, text: string) =>
  html`<main class="message">
    <h1>${title}</h1>
    <p>${text}</p>
  </main>`

/** `GET /embed/{play_session_id}`: a page with a player, for frames on any origin. No key: the session's id is the secret. */
export function mountEmbed(app: Hono<AppEnv>, memory: Memory): void {
  app.get('/embed/:play_session_id', async (c) => {
    const nonce = crypto.randomUUID()
    const looks = looksOf(new URL(c.req.url).searchParams)
    const theme = looks.theme ?? 'auto'
    try {
      const id = Id.safeParse(c.req.param('play_session_id'))
      if (!id.success) throw new ApiError('not_found', 'play session not found')
      const embed = await limitReading(c, memory, id.data, () =>
        findEmbed(contextOf(c, LISTENER, memory, openDatabase(c.env.DB)), id.data),
      )
      const { title } = embed
      const base = baseUrl(c.env, c.req.url)
      const address = `${base}/embed/${id.data}`
      const oembed = `${base}/oembed?format=json&url=${encodeURIComponent(address)}`
      const head = html`${cardOf(embed, address)}
        <link rel="alternate" type="application/json+oembed" href="${oembed}" title="${title}" />
        <script type="module" src="${PLAYER}"></script>
        <script type="module" src="${FRAME}"></script>`
      const attributes = attributesOf({ 'base-url': base, 'play-session-id': id.data, ...looks })
      const player = html`<tonearm-player${attributes}></tonearm-player>
        <noscript>
          <div class="message">
            <h1>${title}</h1>
            <p>The player needs JavaScript.</p>
          </div>
        </noscript>`
      return c.body(String(await page(nonce, title, theme, head, player)), 200, headers(nonce))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const { status, title, text } = problemOf(error)
      const body = message(title, text)
      return c.body(String(await page(nonce, title, theme, '', body)), status, { ...headers(nonce), ...error.headers })
    }
  })
}

import { mediaHost } from '../../adapters/bucket/media_url.ts'
import { ApiError } from '../../core/errors.ts'
import type { Embed } from '../../resources/share/embed.ts'
import type { ListenerRequest } from '../listen/answer_listener.ts'
import { dataBlock, type Html, html } from './html.ts'
import { type PageLanguage, readLanguage } from './language.ts'
import type { PageTexts } from './texts/en.ts'

/** HTML pages with a player, and the error pages for them. A new isolate loads this file when it starts (docs/decisions/0029). */

/** The module of the player element. It imports files that have a hash in their names. */
const PLAYER = '/elements/player.js'
/** The module that lets the embedding page control the player in the frame. */
const FRAME = '/elements/frame.js'

/** URL parameters for the appearance of the player, and patterns for their values. They become attributes of the element. */
const APPEARANCE = {
  layout: /^(full|compact|cover)$/,
  theme: /^(auto|light|dark)$/,
  accent: /^#?[0-9A-Fa-f]{6}$/,
}

export type AppearanceParameters = Record<string, string>

/** Returns the valid appearance parameters of an embed's URL. A `#` is added to colors without one. */
export function appearanceOf(address: string): AppearanceParameters {
  const search = new URL(address).searchParams
  const parameters = Object.entries(APPEARANCE).flatMap(([name, valid]) => {
    const value = search.get(name)
    return value && valid.test(value) ? [[name, name === 'accent' ? `#${value.replace('#', '')}` : value]] : []
  })
  return Object.fromEntries(parameters) as AppearanceParameters
}

/** Returns the attributes of an element. Each starts with a space. */
export const attributesOf = (attributes: Record<string, string | number>): Html[] =>
  Object.entries(attributes).map(([name, value]) => html` ${name}="${value}"`)

/**
 * The player fills the frame. The part above the rows of its list is at least 288 pixels high, or 320 if the frame is narrow; the waveform uses the height that
 * is left.
 */
const STYLE = `
  :root { color-scheme: light dark; --ground: light-dark(#fff, #17181c); --text: light-dark(#1c1d21, #eceef2);
    --soft: light-dark(#62646d, #a2a6b1); }
  :root[data-theme=light] { color-scheme: light }
  :root[data-theme=dark] { color-scheme: dark }
  * { box-sizing: border-box }
  html, body { height: 100%; margin: 0 }
  body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: transparent }
  tonearm-player { display: block; max-width: 100%; height: 100%; --tonearm-waveform-height: min(100%, 200px);
    --tonearm-list-height: min(100vh - 288px, 80vh - 192px) }
  @media (width < 560px) { tonearm-player { --tonearm-list-height: min(100vh - 320px, 80vh - 224px) } }
  .message { display: grid; place-content: center; min-height: 100%; padding: 24px; text-align: center;
    background: var(--ground) }
  .card { display: grid; gap: 4px }
  .frame { height: 100% }
  @media (scripting: enabled) { .frame h1 { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) } }
  @media (scripting: none) { .frame { padding: 24px; background: var(--ground) } .frame tonearm-player { display: none } }
  h1 { font-size: 1.125rem; margin: 0 }
  p { margin: 0; color: var(--soft) }
`

interface PageStyle {
  theme?: string | undefined
  /** CSS that is added to the common style. */
  style?: string
  /** The picture above a message. */
  glyph?: Html
}
interface Page extends PageStyle {
  language: PageLanguage
  status: number
  title: string
  head?: Html
  body: Html
  /** The origins whose pages may show this page in a frame, and the valid targets of its forms. */
  ancestors?: string
  form?: string
  /** Whether search engines may index the page. */
  isPublic?: boolean
  headers?: Record<string, string> | undefined
}

/**
 * Responds with an HTML page. All origins may show it in a frame, unless `ancestors` lists some. It loads scripts only from its own origin and sends
 * no referrer.
 */
export function answerPage(page: Page): Response {
  const {
    language,
    status,
    title,
    head = '',
    body,
    theme = 'auto',
    style = '',
    ancestors = '*',
    form = "'none'",
  } = page
  const nonce = crypto.randomUUID()
  const text = html`<!doctype html>
    <html lang="${language.locale}" dir="${language.direction}" data-theme="${theme}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="/cover/icon.jpg" />
        <style nonce="${nonce}">
          ${{ html: STYLE + style }}
        </style>
        ${head}
      </head>
      <body>
        ${body}
      </body>
    </html>`
  const headers = {
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
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'referrer-policy': 'no-referrer',
    ...(!page.isPublic && { 'x-robots-tag': 'noindex' }),
    ...page.headers,
  }
  return new Response(text.html, { status, headers })
}

/** The types of https://ogp.me for the scopes of a session. */
const KINDS = { track: 'music.song', collection: 'music.album', playlist: 'music.playlist' }

/**
 * Returns the link preview of a page: a card (https://ogp.me, which X reads too) and the link for oEmbed discovery. The card shows only what the page
 * itself shows.
 */
export function previewOf({ scope, title, subtitle, card_image }: Embed, base: string, address: string): Html {
  const { url, width, height } = card_image
  const card = {
    'og:type': KINDS[scope],
    'og:title': title,
    ...(subtitle && { 'og:description': subtitle }),
    'og:url': address,
    'og:site_name': 'Tonearm',
    'og:image': url,
    'og:image:width': width,
    'og:image:height': height,
    'og:image:alt': title,
  }
  const oembed = `${base}/oembed?format=json&url=${encodeURIComponent(address)}`
  return html`${Object.entries(card).map(([property, content]) => html`<meta property="${property}" content="${content}" />`)}
    <meta name="twitter:card" content="summary" />
    <link rel="alternate" type="application/json+oembed" href="${oembed}" title="${title}" />`
}

/**
 * Whether a browser will show the page at once. Only such a page carries the view of a session: other callers, which read the link preview, have no use
 * for it. Browsers send these headers since 2023 at the latest, and no script can set them (https://www.w3.org/TR/fetch-metadata/).
 */
export const isShown = ({ method, headers }: Request) =>
  method !== 'HEAD' && /^(document|i?frame)$/.test(headers.get('sec-fetch-dest') ?? '') && !headers.has('sec-purpose')

/** Returns the scripts of a page with a player. A frame has an additional script, which must run first. */
export const scripts = (isFrame: boolean) =>
  html`${[...(isFrame ? [FRAME] : []), PLAYER].map((src) => html`<script type="module" src="${src}"></script>`)}`

/** Returns a link with which browsers connect to the storage while the player loads. */
export const preconnect = (env: Env) => html`<link rel="preconnect" href="${new URL(mediaHost(env)).origin}" />`

/** Returns the response of `GET /v1/play/{play_session_id}` as a data block, from which the player opens without a request. */
export async function sessionBlock({ env, id: api_request_id }: ListenerRequest, view: object): Promise<Html> {
  const answer = { ok: true, api_request_id, ...view }
  if (env.CHECK_ANSWERS === 'true') (await import('../listen/check_answer.ts')).checkAnswer(answer, 'playSession')
  return dataBlock(answer)
}

/**
 * Returns the body of a frame. `note` is the text for browsers without scripts. The title is for screen readers and for browsers without scripts. `session` is a data block with
 * the player's session. The frame sends titles and ids only to pages from
 * `origins`, or to all pages if that is undefined.
 */
export const framed = (
  title: string,
  note: string,
  attributes: Html[],
  session: Html | '',
  origins?: readonly string[],
) =>
  html`<main${attributesOf({ class: 'frame', ...(origins && { 'data-origins': origins.join(' ') }) })}>
    <h1>${title}</h1>
    <tonearm-player${attributes}>${session}</tonearm-player>
    <noscript><p>${note}</p></noscript>
  </main>`

interface Problem {
  status: number
  title: string
  text: string
}

/** Returns the text that a visitor sees if nothing can be played. */
export function problemOf({ status }: ApiError, texts: PageTexts): Problem {
  if (status === 410) return { status, ...texts.expired }
  if (status === 429) return { status, ...texts.busy }
  if (status === 503) return { status, ...texts.unavailable }
  return { status: status === 401 ? 401 : 404, ...texts.missing }
}

/** Responds with an error page. Rethrows errors that are neither refusals nor transient. */
export async function problemPage(
  request: ListenerRequest,
  error: unknown,
  pageStyle: PageStyle,
  describe = problemOf,
): Promise<Response> {
  const fault = error instanceof ApiError ? error : await transientFault(error, request)
  const language = await readLanguage(request.req.raw)
  const { status, title, text } = describe(fault, language.texts)
  const body = html`<main class="message">
    <div class="card">
      ${pageStyle.glyph ?? ''}
      <h1>${title}</h1>
      <p>${text}</p>
    </div>
  </main>`
  return answerPage({ ...pageStyle, language, status, title, body, headers: fault.headers })
}

/** Returns the error that the visitor sees instead of a transient one. Rethrows any other error. */
async function transientFault(error: unknown, { env, req, id }: ListenerRequest): Promise<ApiError> {
  const { isTransientError } = await import('../../adapters/db/retry.ts')
  if (!isTransientError(error)) throw error
  return (await import('../public_error.ts')).publicError(error, env, req.raw, id)
}

import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import type { Client } from '../../adapters/db/query.ts'
import type { Context } from '../../context.ts'
import { formatClock, MAX_PASSWORD, SHARE_KEY, SHARE_SESSION_TTL, SLUG } from '../../contract/facts.ts'
import { notFound } from '../../core/errors.ts'
import { LISTENER } from '../../core/principal.ts'
import { hueOf, tintOf } from '../../resources/library/cover_image.ts'
import { readShare } from '../../resources/play/shared_session.ts'
import type { Embed } from '../../resources/share/embed.ts'
import { openShare, storedTrackCount, type ShareRow, withLastingPictures } from '../../resources/share/share_view.ts'
import { limitReading } from '../auth/limit_rate.ts'
import { contextOf } from '../context.ts'
import type { ListenerRequest } from '../listen/answer_listener.ts'
import { readNearest, readPrimary } from '../listen/read_nearest.ts'
import { type Html, html } from './html.ts'
import { readLanguage } from './language.ts'
import {
  answerPage,
  type AppearanceParameters,
  appearanceOf,
  attributesOf,
  framed,
  isShown,
  preconnect,
  previewOf,
  problemOf,
  problemPage,
  scripts,
  sessionBlock,
} from './page.ts'
import type { PageTexts } from './texts/en.ts'

/**
 * The page of a share, and the same page in a frame (docs/decisions/0052). A new isolate loads this file when it starts (docs/decisions/0029).
 */

export const STYLE = `
  .page, .message { background: light-dark(color-mix(in oklab, var(--tint, #fff) 8%, #fff),
    color-mix(in oklab, var(--tint, #17181c) 14%, #17181c)) }
  .page { min-height: 100% }
  .share { max-width: 1080px; margin: 0 auto; padding: clamp(16px, 4vw, 48px); display: grid;
    grid-template: auto auto 1fr / 280px minmax(0, 1fr); gap: 20px 40px; align-items: start }
  .share > * { grid-column: 2 }
  .share > img { grid-area: 1 / 1 / 4; width: 100%; height: auto; aspect-ratio: 1; border-radius: 12px; object-fit: cover }
  .share h1 { font-size: clamp(1.375rem, 4vw, 2rem); line-height: 1.15 }
  .share :is(h1, p, a, footer) { overflow-wrap: anywhere; unicode-bidi: plaintext }
  .share :is(h1, .by) { text-align: match-parent }
  .share .by { color: var(--text); font-size: 1.125rem }
  .share tonearm-player { height: auto; --tonearm-cover-size: 0px; --tonearm-waveform-height: 56px;
    --tonearm-list-height: none }
  .share tonearm-player::part(base) { column-gap: 0 }
  .share tonearm-player::part(cover), .share tonearm-player::part(album) { display: none }
  .about { max-width: 42rem; display: grid; gap: 12px }
  .about p { color: inherit }
  .about a { color: inherit; text-underline-offset: 3px }
  .links { list-style: none; margin: 0; padding: 0 }
  .acts, .links { display: flex; flex-wrap: wrap; gap: 8px 20px }
  .share footer { grid-column: 1 / -1; padding-top: 16px; border-top: 1px solid color-mix(in srgb, currentColor 16%, transparent);
    color: var(--soft); font-size: .875rem }
  @media (width < 720px) {
    .share { grid-template: auto / 112px minmax(0, 1fr); gap: 16px }
    .share > * { grid-column: 1 / -1 }
    .share > img { grid-area: 1 / 1 }
    .share header { grid-area: 1 / 2; align-self: center }
  }
  form { display: grid; gap: 8px; justify-items: center }
  input, button { font: inherit; padding: 8px 14px; border-radius: 8px; border: 1px solid var(--soft); color: inherit;
    background: transparent }
  button { cursor: pointer }
  :is(input, button):focus-visible { outline: 2px solid; outline-offset: 2px }
  .wrong { color: light-dark(#b3261e, #ff8a80) }
  ol { padding-inline-start: 1.5em }
`

/** Maximum number of tracks in the list for browsers without scripts. */
const PAGE_ROWS = 100

/** Returns the form for the password. In a frame, its field has no `autofocus`, because browsers block it across origins and log a warning. */
export const passwordForm = (texts: PageTexts, isFrame: boolean, isWrong: boolean) =>
  html`<main class="message">
    <h1>${texts.protected}</h1>
    <form method="post">
      <label for="password">${texts.password}</label>
      <input
        id="password"
        name="password"
        type="password"
        maxlength="${MAX_PASSWORD}"
        required
        ${isFrame ? '' : { html: ' autofocus' }}
        autocomplete="current-password"
        ${isWrong ? html` aria-invalid="true" aria-describedby="wrong"` : ''}
      />
      ${isWrong ? html`<p class="wrong" id="wrong" role="alert">${texts.wrongPassword}</p>` : ''}
      <button>${texts.open}</button>
    </form>
  </main>`

/** Returns the button that requests the ZIP. It is a form and not a link, which crawlers would follow. */
const zipForm = (slug: string, secret: string, label: string) =>
  html`<form method="post" action="/s/${slug}/zip">
    <input type="hidden" name="key" value="${secret}" />
    <button>${label}</button>
  </form>`

/** Returns the button that shares the address. It is shown by its module, because it does nothing without scripts. */
const shareButton = (address: string, { share, linkCopied }: PageTexts) =>
  html`<button type="button" hidden data-share="${address}" data-copied="${linkCopied}">${share}</button>`

/** Returns the text and the links of the maker. */
async function aboutOf({ text, links }: ShareRow): Promise<Html | ''> {
  if (!text && !links?.length) return ''
  const { linksOf, textOf } = await import('./share_text.ts')
  return html`<section class="about">${text ? textOf(text) : ''}${links?.length ? linksOf(links) : ''}</section>`
}

/** Returns the link by which podcast apps find the feed of a page; nothing for a private feed. */
const feedLink = ({ feed }: ShareRow, address: string): Html | '' =>
  feed && !feed.block ? html`<link rel="alternate" type="application/rss+xml" href="${address}/feed.xml" />` : ''

/** Returns the style of a page whose ground is tinted with a color. */
const styleOf = (tint: string) => `${STYLE}:root { --tint: ${tint} }`

type Opened = Awaited<ReturnType<typeof readShare>>

/** Returns the title, head and body of the page for a share that the visitor may see. The page is for a frame if `appearance` is not null. */
async function showShare(
  request: ListenerRequest,
  context: Context<Client>,
  { share, tracks, isComplete, view }: Omit<Opened, 'embed'>,
  embed: Embed,
  appearance: AppearanceParameters | null,
  texts: PageTexts,
) {
  const { slug } = share
  const base = context.base_url
  const address = `${base}/s/${slug}`
  const { title, subtitle, cover_image, design, maker, tint } = embed
  // The page of a share with a password has no preview. Sites that show previews of links see only the password form.
  const preview =
    share.password_hash === null
      ? html`${previewOf(withLastingPictures(embed, address), base, address)}<link
            rel="canonical"
            href="${address}"
          />${feedLink(share, address)}`
      : ''
  const head = html`${view ? preconnect(context.env) : ''}${preview}${scripts(appearance !== null)}${
    appearance ? '' : html`<script type="module" src="/elements/share.js"></script>`
  }`
  const secret = await secretOf(context, share)
  const attributes = attributesOf({
    'base-url': base,
    'api-key': secret,
    scope: share.scope,
    'resource-id': share.resource_id,
    'expires-in': SHARE_SESSION_TTL,
    share: address,
    ...(share.variants && { variants: share.variants.join(' ') }),
    ...(share.is_downloadable && { download: '' }),
    ...appearance,
  })
  const session = view ? await sessionBlock(request, view) : ''
  if (appearance)
    return { title, head, body: framed(title, texts.needsScript, attributes, session, share.allowed_origins ?? []) }
  const isLong = tracks.length > PAGE_ROWS
  const total = isComplete ? tracks.length : await storedTrackCount(context, share)
  const seconds = isLong ? 0 : tracks.reduce((sum, { duration }) => sum + duration, 0)
  // A collection may be an album, a podcast or a sample pack, so it has no name.
  const kind = { track: texts.track, collection: '', playlist: texts.playlist }[share.scope]
  const details = [
    kind,
    share.scope === 'track' ? '' : texts.tracks(total),
    seconds > 0 ? formatClock(seconds) : '',
  ].filter(Boolean)
  const { url } = cover_image.regular
  const body = html`<div class="page">
    <main class="share">
      <img src="${design === null ? url : url.replace(/png$/, 'svg')}" width="400" height="400" alt="" />
      <header>
        <h1>${title}</h1>
        ${subtitle ? html`<p class="by">${subtitle}</p>` : ''}
        <p>${details.join(' · ')}</p>
      </header>
      <tonearm-player${attributes}>${session}</tonearm-player>
      <div class="acts">${shareButton(address, texts)}${share.is_downloadable && tracks.length > 1 ? zipForm(slug, secret, texts.downloadAll) : ''}</div>
      ${await aboutOf(share)}
      <noscript>
        <p>${texts.needsScript}</p>
        <ol>
          ${tracks.slice(0, PAGE_ROWS).map((track) => html`<li>${track.player_title} (${formatClock(track.duration)})</li>`)}
        </ol>
        ${isLong ? html`<p>${texts.more(total - PAGE_ROWS)}</p>` : ''}
      </noscript>
      <footer>${maker}</footer>
    </main>
  </div>`
  return { title: subtitle ? `${title} – ${subtitle}` : title, head, body, style: styleOf(tint) }
}

/** Returns the key with which the player of the page creates sessions. That of a share with a password is signed. */
async function secretOf({ env, now }: Context<Client>, share: ShareRow): Promise<string> {
  if (share.password_hash === null) return `${SHARE_KEY}${share.slug}`
  return (await import('../../resources/share/share_holder.ts')).shareKey(env, share, now)
}

/** Returns the slug in its normal form; null if it is invalid. */
export function normalizeSlug(text = ''): string | null {
  const slug = text.toLowerCase()
  return SHAPE.test(slug) ? slug : null
}
const SHAPE = new RegExp(`^${SLUG}$`)

/** Returns the origins whose pages may show a share in a frame. A password form may be shown only by the sites that the share lists. */
const ancestorsOf = ({ allowed_origins, password_hash }: ShareRow) =>
  allowed_origins === null && password_hash === null ? '*' : ["'self'", ...(allowed_origins ?? [])].join(' ')

/**
 * Responds with the page of a share, or with the form for its password. `isRight` checks the password that the visitor has entered; it is undefined in a
 * GET request.
 */
export async function answerShare(
  request: ListenerRequest,
  cache: IsolateCache,
  text: string,
  isFrame: boolean,
  isRight?: (share: ShareRow) => Promise<boolean>,
): Promise<Response> {
  const { env, req } = request
  const appearance = isFrame ? appearanceOf(req.url) : null
  const language = await readLanguage(req.raw)
  const { texts } = language
  const pageStyle = { theme: appearance?.theme, style: STYLE }
  const ask = (share: ShareRow, isWrong: boolean) => ({
    share,
    title: texts.protected,
    // The color of the cover would reveal something of it.
    style: styleOf(tintOf(hueOf(share.slug))),
    body: passwordForm(texts, isFrame, isWrong),
    status: isWrong ? 403 : 200,
  })

  /** Reads the share, and builds its page. */
  const reader = (slug: string, password_hash: string | null, isPlayed: boolean) => async (client: Client) => {
    const context = contextOf(request, LISTENER, cache, client)
    const limit = isFrame ? 0 : PAGE_ROWS + 1
    const { embed, ...found } = await readShare(context, { slug, password_hash, limit, isPlayed })
    const { share } = found
    request.set('organization_id', share.organization_id)
    if (!embed) return ask(share, false)
    return { ...(await showShare(request, context, found, embed, appearance, texts)), share, status: 200 }
  }

  async function answer(slug: string) {
    let password_hash: string | null = null
    if (isRight) {
      // A password is checked at the primary, because a replica may still have the previous one.
      const share = await readPrimary(env.DB, (client) => openShare(contextOf(request, LISTENER, cache, client), slug))
      request.set('organization_id', share.organization_id)
      ;({ password_hash } = share)
      if (password_hash !== null && !(await isRight(share))) return ask(share, true)
    }
    // A page that plays is read at the primary, so that it ends at once when its share is revoked.
    const isPlayed = isShown(req.raw)
    const read = reader(slug, password_hash, isPlayed)
    return isPlayed || isRight ? readPrimary(env.DB, read) : readNearest(env, read)
  }

  try {
    const slug = normalizeSlug(text)
    if (!slug) throw notFound('share')
    const { share, ...page } = await limitReading(request, cache, `share:${slug}`, () => answer(slug))
    return answerPage({
      language,
      ...pageStyle,
      ...page,
      ancestors: ancestorsOf(share),
      form: "'self'",
      isPublic: share.password_hash === null && share.is_custom_slug && !isFrame,
    })
  } catch (error) {
    return problemPage(request, error, pageStyle, (error) => {
      const problem = problemOf(error, texts)
      return {
        ...problem,
        ...(problem.status === 410
          ? texts.linkEnded
          : problem.status === 429 && isRight !== undefined && texts.tooManyAttempts),
      }
    })
  }
}

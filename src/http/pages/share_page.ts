import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import type { Client } from '../../adapters/db/query.ts'
import type { Context } from '../../context.ts'
import { formatClock, SHARE_KEY, SHARE_SESSION_TTL, SLUG } from '../../contract/facts.ts'
import { notFound } from '../../core/errors.ts'
import { LISTENER } from '../../core/principal.ts'
import { readShare } from '../../resources/play/shared_session.ts'
import type { Embed } from '../../resources/share/embed.ts'
import { openShare, storedTrackCount, type ShareRow, withLastingPictures } from '../../resources/share/share_view.ts'
import { limitReading } from '../auth/limit_rate.ts'
import { contextOf } from '../context.ts'
import type { ListenerRequest } from '../listen/answer_listener.ts'
import { readNearest, readPrimary } from '../listen/read_nearest.ts'
import { type Html, html } from './html.ts'
import { type PageLanguage, readLanguage } from './language.ts'
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
import type { PodcastPage } from './podcast_page.ts'
import { STYLE } from './share_style.ts'
import type { PageTexts } from './texts/en.ts'

/**
 * The page of a share, and the same page in a frame (docs/decisions/0052). A new isolate loads this file when it starts (docs/decisions/0029).
 */

/** Maximum number of tracks in the list for browsers without scripts. */
const PAGE_ROWS = 100
/** Length of a text from which on the column with the cover is not sticky, because its end would be below the window. */
const FIXED_TEXT = 360

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
async function aboutOf(text: string | null, links: ShareRow['links']): Promise<Html | ''> {
  if (!text && !links?.length) return ''
  const { linksOf, textOf } = await import('./share_text.ts')
  return html`<section class="about">${text ? textOf(text) : ''}${links?.length ? linksOf(links) : ''}</section>`
}

/** Returns the link by which podcast apps find the feed of a page; nothing for a private feed. */
const feedLink = ({ feed }: ShareRow, address: string): Html | '' =>
  feed && !feed.block ? html`<link rel="alternate" type="application/rss+xml" href="${address}/feed.xml" />` : ''

/** Returns the parts of the page of a podcast that the page of other audio lacks; none for other audio. */
async function podcastOf(found: PodcastPage) {
  if (!found.share.feed && !found.embed.episode) return null
  return (await import('./podcast_page.ts')).podcastParts(found)
}

type Opened = Awaited<ReturnType<typeof readShare>>

/** Returns the title, head and body of the page for a share that the visitor may see. The page is for a frame if `appearance` is not null. */
async function showShare(
  request: ListenerRequest,
  context: Context<Client>,
  { share, tracks, isComplete, view }: Omit<Opened, 'embed'>,
  embed: Embed,
  appearance: AppearanceParameters | null,
  language: PageLanguage,
) {
  const { texts } = language
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
  const podcast = appearance ? null : await podcastOf({ share, embed, view, address, language })
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
  const details = podcast?.details(total, seconds) ?? [
    kind,
    share.scope === 'track' ? '' : texts.tracks(total),
    seconds > 0 ? formatClock(seconds) : '',
  ]
  const { url } = cover_image.regular
  const text = share.text ?? podcast?.notes ?? null
  // The page shows the title of a single track, and the artist that all tracks have, so the player does not.
  const isSame = tracks.every(({ player_subtitle }) => (player_subtitle ?? '') === subtitle)
  const names = ['share', share.scope === 'track' ? 'one' : '', isSame ? 'same' : ''].filter(Boolean)
  const body = html`<div class="page">
    <main class="${names.join(' ')}">
      <header>
        <h1>${title}</h1>
        ${subtitle ? html`<p class="by">${subtitle}</p>` : ''}
        <p>${details.filter(Boolean).join(' · ')}</p>
      </header>
      <tonearm-player${attributes}>${session}</tonearm-player>
      <div class="side${(text?.length ?? 0) < FIXED_TEXT ? ' fixed' : ''}">
        <img src="${design === null ? url : url.replace(/png$/, 'svg')}" width="400" height="400" alt="" />
        <div class="acts">${shareButton(address, texts)}${podcast?.subscribe ?? ''}${share.is_downloadable && tracks.length > 1 ? zipForm(slug, secret, texts.downloadAll) : ''}</div>
        ${await aboutOf(text, share.links)}
        <noscript>
          <p>${texts.needsScript}</p>
          <ol>
            ${tracks.slice(0, PAGE_ROWS).map((track) => html`<li>${track.player_title} (${formatClock(track.duration)})</li>`)}
          </ol>
          ${isLong ? html`<p>${texts.more(total - PAGE_ROWS)}</p>` : ''}
        </noscript>
      </div>
      <footer>${maker}</footer>
    </main>
  </div>`
  return {
    title: subtitle ? `${title} – ${subtitle}` : title,
    head,
    body,
    style: `${STYLE}:root { --tint: ${tint} }`,
  }
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
  const theme = appearance?.theme
  /** Returns the page that asks for the password. */
  async function ask(context: Context<Client>, share: ShareRow, isWrong: boolean) {
    const [{ cardStyle, passwordForm }, { makerOf }] = await Promise.all([
      import('./card.ts'),
      import('../../resources/share/locked_share.ts'),
    ])
    const maker = await makerOf(context, share)
    return {
      share,
      title: texts.protected,
      style: cardStyle(share.slug),
      body: passwordForm(texts, maker, isFrame, isWrong),
      status: isWrong ? 403 : 200,
    }
  }

  /** Reads the share, and builds its page. */
  const reader = (slug: string, password_hash: string | null, isPlayed: boolean) => async (client: Client) => {
    const context = contextOf(request, LISTENER, cache, client)
    const limit = isFrame ? 0 : PAGE_ROWS + 1
    const { embed, ...found } = await readShare(context, { slug, password_hash, limit, isPlayed })
    const { share } = found
    request.set('organization_id', share.organization_id)
    if (!embed) return ask(context, share, false)
    return { ...(await showShare(request, context, found, embed, appearance, language)), share, status: 200 }
  }

  async function answer(slug: string) {
    let password_hash: string | null = null
    if (isRight) {
      // A password is checked at the primary, because a replica may still have the previous one.
      const share = await readPrimary(env.DB, (client) => openShare(contextOf(request, LISTENER, cache, client), slug))
      request.set('organization_id', share.organization_id)
      ;({ password_hash } = share)
      if (password_hash !== null && !(await isRight(share)))
        return readNearest(env, (client) => ask(contextOf(request, LISTENER, cache, client), share, true))
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
      theme,
      ...page,
      ancestors: ancestorsOf(share),
      form: "'self'",
      isPublic: share.password_hash === null && share.is_custom_slug && !isFrame,
    })
  } catch (error) {
    return problemPage(request, error, { theme, ...(await endedCard(text)) }, (error) => {
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

/** Returns the looks of an error page at the address of a share. */
export async function endedCard(slug: string) {
  const { cardStyle, endedGlyph } = await import('./card.ts')
  return { style: cardStyle(slug), glyph: endedGlyph }
}

import { html } from 'hono/html'

import type { Context } from '../../context.ts'
import { clock, MAX_PASSWORD, SHARE_SESSION_TTL } from '../../contract/facts.ts'
import { readList } from '../../resources/play/session_view.ts'
import { shareKey } from '../../resources/share/share_holder.ts'
import { embedOfShare, storedTrackCount, type ShareRow, withLastingPictures } from '../../resources/share/share_view.ts'
import { attributesOf, framed, type AppearanceParameters, previewOf, scripts } from './page.ts'

/** The contents of a share's page and of the same page in a frame (docs/decisions/0052). */

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

/** Maximum number of tracks in the list for browsers without scripts. */
const PAGE_ROWS = 100

const KINDS = { track: 'Track', collection: 'Album', playlist: 'Playlist' }

/** Returns the form for the password. In a frame, its field has no `autofocus`, because browsers block it across origins and log a warning. */
export const passwordForm = (isFrame: boolean, isWrong: boolean) =>
  html`<main class="message">
    <h1>This is protected by a password</h1>
    <form method="post">
      <label for="password">Password</label>
      <input
        id="password"
        name="password"
        type="password"
        maxlength="${MAX_PASSWORD}"
        required
        ${isFrame ? '' : html` autofocus`}
        autocomplete="current-password"
        ${isWrong ? html` aria-invalid="true" aria-describedby="wrong"` : ''}
      />
      ${isWrong ? html`<p class="wrong" id="wrong" role="alert">This is not the password.</p>` : ''}
      <button>Open</button>
    </form>
  </main>`

/** Returns the button that requests the ZIP. It is a form and not a link, because each download creates a session. */
const zipForm = (slug: string, secret: string) =>
  html`<form method="post" action="/s/${slug}/zip">
    <input type="hidden" name="key" value="${secret}" />
    <button>Download all (ZIP)</button>
  </form>`

/** Returns the title, head and body of the page for a share that the visitor may see. The page is for a frame if `appearance` is not null. */
export async function showShare(context: Context, share: ShareRow, appearance: AppearanceParameters | null) {
  const { slug } = share
  // The list is for browsers without scripts. Frames do not have this list.
  const [embed, { tracks = [] }] = await Promise.all([
    embedOfShare(context, share),
    appearance ? { tracks: [] } : readList(context, 'shares', slug, PAGE_ROWS + 1),
  ])
  const base = context.base_url
  const address = `${base}/s/${slug}`
  const { title, subtitle, cover_image, has_cover } = embed
  // The page of a share with a password has no preview. Sites that show previews of links see only the password form.
  const preview =
    share.password_hash === null
      ? html`${previewOf(withLastingPictures(embed, address), base, address)}<link rel="canonical" href="${address}" />`
      : ''
  const head = html`${preview}${scripts(appearance !== null)}`
  const secret = await shareKey(context.env, share, context.now)
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
  if (appearance) return { title, head, body: framed(title, attributes, share.allowed_origins ?? []) }
  const isLong = tracks.length > PAGE_ROWS
  const total = isLong ? await storedTrackCount(context, share) : tracks.length
  const seconds = isLong ? 0 : tracks.reduce((sum, { duration }) => sum + duration, 0)
  const count = total === 1 ? '1 track' : `${total} tracks`
  const details = [
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
          <p>${details.join(' · ')}</p>
        </div>
      </header>
      <tonearm-player${attributes}></tonearm-player>
      ${share.is_downloadable && tracks.length > 1 ? zipForm(slug, secret) : ''}
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

import { MAX_PASSWORD } from '../../contract/facts.ts'
import { hueOf, tintOf } from '../../resources/library/cover_image.ts'
import { type Html, html } from './html.ts'
import type { PageTexts } from './texts/en.ts'

/** The card of a page that plays nothing: the form for a password, and the message of a link that has ended. Loaded only for these pages. */

const STYLE = `
  .message { background: light-dark(oklch(.955 .02 var(--hue)), oklch(.2 .025 var(--hue))) }
  .card { width: min(24rem, 100vw - 32px); padding: 36px 32px 32px; gap: 6px; border-radius: 20px; overflow-wrap: anywhere;
    background: light-dark(#fff, oklch(.27 .03 var(--hue))); box-shadow: 0 1px 3px rgb(0 0 0 / 10%), 0 18px 50px rgb(0 0 0 / 12%) }
  .card h1 { font-size: 1.25rem; line-height: 1.3 }
  .card :is(h1, p) { text-wrap: balance }
  .card svg { width: 28px; height: 28px; box-sizing: content-box; margin: 0 auto 12px; padding: 16px; border-radius: 50%;
    fill: currentColor; color: light-dark(oklch(.42 .1 var(--hue)), oklch(.84 .08 var(--hue)));
    background: light-dark(oklch(.93 .045 var(--hue)), oklch(.36 .05 var(--hue))) }
  form { display: grid; gap: 8px; margin-top: 18px; text-align: start }
  label { font-size: .875rem; font-weight: 550 }
  input, button { width: 100%; min-height: 46px; padding: 0 14px; font: inherit; border-radius: 10px }
  input { border: 1px solid light-dark(#7d808a, #868a96); color: inherit; background: transparent }
  button { margin-top: 8px; border: 0; font-weight: 600; color: #fff; background: oklch(.45 .11 var(--hue)); cursor: pointer }
  button:hover { background: oklch(.4 .11 var(--hue)) }
  :is(input, button):focus-visible { outline: 2px solid light-dark(oklch(.45 .11 var(--hue)), oklch(.84 .08 var(--hue)));
    outline-offset: 2px }
  .wrong { font-size: .875rem; color: light-dark(#b3261e, #ff9a8f) }
  @media (width < 400px) or (height < 440px) {
    .message { padding: 12px }
    .card { padding: 20px }
    .card svg { padding: 12px; margin-bottom: 6px }
  }
  @media (height < 400px) { .card svg { display: none } form { margin-top: 8px } }
`

/** Returns the style of a card. Its color depends only on the address: the color of a cover would reveal something of it. */
export const cardStyle = (slug: string) => `${STYLE}:root { --hue: ${hueOf(slug)}; --tint: ${tintOf(hueOf(slug))} }`

const glyph = (path: string) => html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${path}" /></svg>`
const LOCK =
  'M12 1a5 5 0 0 0-5 5v3H6a2 2 0 0 0-2 2v9a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-9a2 2 0 0 0-2-2h-1V6a5 5 0 0 0-5-5zm-3 8V6a3 3 0 0 1 6 0v3zm4 8.7V19h-2v-1.3a2 2 0 1 1 2 0z'
const ENDED =
  'M3.9 2.5 21.5 20.1l-1.4 1.4-4.9-4.9H13v-2h.2L10.6 12H8v-2h.6L7.4 8.9A3.1 3.1 0 0 0 7 15h4v2H7A5 5 0 0 1 5.5 7L2.5 3.9zM13 7h4a5 5 0 0 1 3.1 8.9l-1.4-1.4A3.1 3.1 0 0 0 17 8.9h-4zm1.9 3H16v1.1z'

/** The picture of a page whose link leads to nothing. */
export const endedGlyph: Html = glyph(ENDED)

/** Returns the form for the password. In a frame, its field has no `autofocus`, because browsers block it across origins and log a warning. */
export const passwordForm = (texts: PageTexts, maker: string, isFrame: boolean, isWrong: boolean): Html =>
  html`<main class="message">
    <div class="card">
      ${glyph(LOCK)} ${maker ? html`<p dir="auto">${maker}</p>` : ''}
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
    </div>
  </main>`

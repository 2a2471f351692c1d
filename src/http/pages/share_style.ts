/** The style of the page of a share, in addition to that of all pages with a player. `--tint` is a color of the cover. */
export const STYLE = `
  .page { min-height: 100%; background: light-dark(oklch(from var(--tint) .965 clamp(.014, c * .2, .022) h),
    oklch(from var(--tint) .21 clamp(.02, c * .3, .035) h)) }
  .share { max-width: 1160px; margin: 0 auto; padding: clamp(16px, 4vw, 48px); display: grid;
    grid-template: auto 1fr / 360px minmax(0, 1fr); gap: 24px 56px; align-items: start }
  .share > * { grid-column: 2 }
  .share > .side { grid-area: 1 / 1 / 3; display: grid; gap: 20px }
  .side.fixed { position: sticky; top: clamp(16px, 4vw, 48px) }
  .side img { width: 100%; height: auto; aspect-ratio: 1; border-radius: 14px; object-fit: cover;
    box-shadow: 0 1px 3px rgb(0 0 0 / 16%), 0 16px 44px rgb(0 0 0 / 16%) }
  .share h1 { font-size: clamp(1.5rem, 4vw, 2.5rem); line-height: 1.1; letter-spacing: -.02em; text-wrap: balance }
  .share :is(h1, p, a, footer) { overflow-wrap: anywhere; unicode-bidi: plaintext }
  .share header { text-align: left }
  [dir=rtl] .share header { text-align: right }
  .share .by { margin: 6px 0 2px; color: var(--text); font-size: 1.25rem }
  .share tonearm-player { height: auto; --tonearm-cover-size: 0px; --tonearm-waveform-height: 64px;
    --tonearm-list-height: none; --tonearm-raised: light-dark(rgb(255 255 255 / 60%), rgb(255 255 255 / 7%)) }
  .share tonearm-player::part(base) { column-gap: 0; padding: 0; background: none; box-shadow: none }
  .share tonearm-player::part(play-button) { scale: 1.3; margin: 8px 16px }
  .same tonearm-player::part(titles) { min-height: 36px }
  .share tonearm-player::part(cover), .share tonearm-player::part(album), .one tonearm-player::part(titles),
    .same tonearm-player::part(subtitle) { display: none }
  .about { display: grid; gap: 12px }
  .about p { color: inherit }
  .about a { color: inherit; text-underline-offset: 3px }
  .acts, .links { display: flex; flex-wrap: wrap; gap: 8px 20px; margin: 0; padding: 0; list-style: none }
  .acts { gap: 8px }
  .acts:not(:has(> :not([hidden]))) { display: none }
  .acts :is(button, a) { display: block; padding: 8px 16px; border: 0; border-radius: 99px; font: inherit; color: inherit;
    text-decoration: none; background: color-mix(in srgb, currentColor 9%, transparent); cursor: pointer }
  .acts [hidden] { display: none }
  .acts :is(button, a):hover { background: color-mix(in srgb, currentColor 15%, transparent) }
  :is(button, a):focus-visible { outline: 2px solid; outline-offset: 2px }
  .share footer { grid-column: 1 / -1; margin-top: 16px; padding-top: 16px;
    border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); color: var(--soft); font-size: .875rem }
  @media (width < 900px) {
    .share { grid-template: auto / clamp(112px, 26vw, 208px) minmax(0, 1fr); gap: 20px clamp(16px, 3vw, 28px) }
    .share > * { grid-column: 1 / -1 }
    .share > .side { display: contents }
    .side > * { grid-column: 1 / -1; order: 1 }
    .side img { grid-area: 1 / 1; order: 0 }
    .share header { grid-area: 1 / 2; align-self: center }
    .share footer { order: 2 }
    .share .by { font-size: 1.0625rem }
  }
  ol { padding-inline-start: 1.5em }
`

import { type Html, html } from './html.ts'

/** The texts that the maker of a share writes on its page. Loaded only for a share that has some. */

/**
 * The part of Markdown that texts may use. Everything else is shown as it was written. A mark without an end is read only up to the next start of one, so the
 * time is linear in the length of the text. URLs may contain pairs of parentheses.
 */
const MARKS =
  /\*\*(?<strong>[^*]+)\*\*|\*(?<em>[^*\s][^*]*)\*|\[(?<label>[^[\]]+)\]\((?<url>(?:https?:\/\/|mailto:)(?:[^\s()]|\([^\s()]*\))+)\)/g

const link = (url: string, label: string) =>
  html`<a href="${url}" target="_blank" rel="nofollow noopener noreferrer">${label}</a>`

/** Returns a line as HTML: `**strong**`, `*emphasis*` and `[links](https://…)`. */
function lineOf(line: string): Html {
  const parts: (string | Html)[] = []
  let end = 0
  for (const { 0: whole, index, groups = {} } of line.matchAll(MARKS)) {
    const { strong, em, label, url } = groups
    parts.push(line.slice(end, index))
    parts.push(strong ? html`<strong>${strong}</strong>` : em ? html`<em>${em}</em>` : link(url!, label!))
    end = index + whole.length
  }
  return html`${[...parts, line.slice(end)]}`
}

/** Returns the text of a share as paragraphs, which empty lines separate. */
export const textOf = (text: string): Html[] =>
  text
    .split(/\n\s*\n/)
    .map(
      (paragraph) =>
        html`<p>
          ${paragraph.split('\n').map((line, at) => (at === 0 ? lineOf(line) : html`<br />${lineOf(line)}`))}
        </p>`,
    )

/** Returns the links of a share as a list. */
export const linksOf = (links: { title: string; url: string }[]): Html =>
  html`<ul class="links">
    ${links.map(({ title, url }) => html`<li>${link(url, title)}</li>`)}
  </ul>`

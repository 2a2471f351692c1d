/** Builds HTML. The file is loaded when an isolate starts, so it does not use Hono's helper (docs/decisions/0029). */

/** Text that is already HTML. */
export interface Html {
  html: string
}
type Value = string | number | Html | Value[]

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function show(value: Value): string {
  if (Array.isArray(value)) return value.map(show).join('')
  return typeof value === 'object' ? value.html : String(value).replace(/[&<>"']/g, (char) => ESCAPES[char]!)
}

/** The tag of templates. Values are escaped, unless they are HTML; lists are joined. */
export const html = ({ raw: [first = '', ...others] }: TemplateStringsArray, ...values: Value[]): Html => ({
  html: first + others.map((text, at) => show(values[at]!) + text).join(''),
})

/** Returns JSON as a data block, which browsers do not run. No text in it can end the block. */
export const dataBlock = (value: object): Html => ({
  html: `<script type="application/json">${JSON.stringify(value).replaceAll('<', '\\u003c')}</script>`,
})

/**
 * Returns a link with a start or an end in its hash, or with both, in seconds: `#t=62`, `#t=62,75`, `#t=,75` (Media Fragments URI, 4.2.1). Neither the
 * player nor the uploader imports this, because that would split their modules (docs/decisions/0107).
 */
export function partLink(link: string, start: number | null, end: number | null): string {
  const url = new URL(link)
  const params = new URLSearchParams(url.hash.slice(1))
  const text = (start ?? '') + (end === null ? '' : `,${end}`)
  if (text) params.set('t', text)
  url.hash = params.toString().replace('%2C', ',')
  return url.href
}

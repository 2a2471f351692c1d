import type { Client, PlayView } from './api.ts'
import { button, element } from './dom.ts'
import { explain } from './format.ts'

/** The session's variants: listen to each in a tab of its own, or download it. */
export function variantList(client: Client, view: PlayView, onProblem: (message: string) => void): HTMLElement {
  const { play_session_id, track_id: play_track_id } = view
  async function download(variant_index: string) {
    onProblem('')
    const params = { play_session_id, play_track_id, variant_index }
    const result = await client.get('/v1/play/{play_session_id}/{play_track_id}/{variant_index}/download', { params })
    if (!result.ok) return onProblem(explain(result))
    // R2 names the file itself; wrangler's local bucket does not.
    const name = downloadName(view, variant_index)
    element('a', { attributes: { href: result.download.url, download: name } }).click()
  }
  const items = view.variants.map(({ url, variant: { index } }) => {
    const link = element('a', { attributes: { href: url, target: '_blank', rel: 'noopener' } }, index)
    const fetchIt = button('Download', () => download(index), 'small')
    fetchIt.setAttribute('aria-label', `Download ${index}`)
    return element('li', {}, link, fetchIt)
  })
  return element('ul', { class: 'variants', attributes: { 'aria-label': 'Variants' } }, ...items)
}

/** The uploaded file's name with the variant's extension. */
function downloadName(view: PlayView, index: string): string {
  const path = view.variants.find(({ variant }) => variant.index === index)?.path ?? ''
  const extension = /\.\w+$/.exec(path)?.[0]
  return extension ? view.track.file_name.replace(/\.[^.]*$/, '') + extension : view.track.file_name
}

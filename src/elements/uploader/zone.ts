import { button, element, icon } from '../shared/dom.ts'
import { icons } from './icons.ts'
import { formatSize, type Texts } from './texts.ts'

/** Where files are dropped, and the button to choose them. */
export function createZone(onFiles: (files: File[]) => void) {
  const input = element('input', { type: 'file', multiple: true, hidden: true, tabindex: -1, 'aria-hidden': 'true' })
  const title = element('p', { class: 'title', part: 'prompt' })
  const hint = element('p', { class: 'hint' })
  const limit = element('p', { class: 'hint limit', part: 'limit' })
  const browse = button('button browse', () => input.click())
  browse.classList.add('button', 'primary')
  const text = element('div', { class: 'prompt' }, title, hint)
  const emblem = element('span', { class: 'emblem' }, icon(icons.upload))
  const root = element('div', { class: 'zone', part: 'dropzone' }, emblem, text, browse, limit, input)

  input.addEventListener('change', () => {
    onFiles([...(input.files ?? [])])
    // The same file may be chosen again.
    input.value = ''
  })

  function update(texts: Texts, how: { accept: string; maxSize: number | null; empty: boolean; dragging: boolean }) {
    root.dataset.size = how.empty ? 'full' : 'small'
    title.textContent = how.dragging ? texts.dropNow : texts.drop
    hint.textContent = texts.orPaste
    browse.textContent = how.empty ? texts.browse : texts.addMore
    limit.textContent = how.maxSize === null ? '' : texts.limit(formatSize(how.maxSize, texts.locale))
    input.accept = how.accept
  }
  return { root, update, focus: () => browse.focus() }
}

import { button, element, icon, setAttributes } from '../shared/dom.ts'
import { createBar } from './bar.ts'
import { keepFocus } from './focus.ts'
import { icons } from './icons.ts'
import { isUnsent, type Item } from './item.ts'
import { statusOf } from './status.ts'
import type { Texts } from './texts.ts'
import { createThumb } from './thumb.ts'

export interface RowActions {
  pause: (item: Item) => void
  resume: (item: Item) => void
  retry: (item: Item) => void
  cancel: (item: Item) => void
  remove: (item: Item) => void
  pickCover: (item: Item) => void
}

type Action = Exclude<keyof RowActions, 'pickCover'>
interface Choice {
  action: Action
  icon: string
  label: (texts: Texts) => string
  hint?: (texts: Texts) => string
}

const PAUSE: Choice = { action: 'pause', icon: icons.pause, label: (t) => t.pause, hint: (t) => t.pauseHint }
const RESUME: Choice = { action: 'resume', icon: icons.play, label: (t) => t.resume }
const RETRY: Choice = { action: 'retry', icon: icons.retry, label: (t) => t.retry }
const RETRY_NOW: Choice = { action: 'retry', icon: icons.retry, label: (t) => t.retryNow }
const CANCEL: Choice = { action: 'cancel', icon: icons.close, label: (t) => t.cancel }
const REMOVE: Choice = { action: 'remove', icon: icons.close, label: (t) => t.remove }

/** What the first button of a row does now. */
function mainChoice({ state, retriable }: Item): Choice | null {
  if (state === 'uploading') return PAUSE
  if (state === 'paused') return RESUME
  if (state === 'waiting') return RETRY_NOW
  return state === 'cancelled' || (state === 'failed' && retriable) ? RETRY : null
}

/** What its second button does. The service goes on with what it has, so there is none while it works. */
function endChoice(item: Item): Choice | null {
  if (item.state === 'queued') return REMOVE
  if (item.state === 'processing') return null
  return isUnsent(item) ? CANCEL : REMOVE
}

export type Row = ReturnType<typeof createRow>

/** One file of the list: its cover, its name, what happens to it, and what can be done. */
export function createRow(item: Item, actions: RowActions) {
  const thumb = createThumb(item, () => actions.pickCover(item))
  const name = element('span', { class: 'name', part: 'name' }, item.file.name)
  const state = element('span', { class: 'state', part: 'state' })
  const note = element('span', { class: 'note', part: 'note' })
  const bar = createBar('progress')
  const main = actionButton(item, actions, 'action')
  const end = actionButton(item, actions, 'dismiss')
  const badge = element('span', { class: 'badge', part: 'badge' })
  const text = element('div', { class: 'text' }, name, state, bar.root, note)
  const tail = element('div', { class: 'tail' }, badge, main.root, end.root)
  const root = element('li', { class: 'item', part: 'item', tabindex: -1 }, thumb.root, text, tail)
  let shown = ''

  function update(texts: Texts): void {
    const status = statusOf(item, texts)
    root.dataset.state = item.state
    name.title = item.file.name
    state.textContent = status.text
    state.classList.toggle('problem', status.isProblem ?? false)
    bar.root.hidden = status.fraction === undefined
    bar.show(texts.progressOf(item.file.name), status.fraction ?? null, status.text)
    showNote(texts)
    showBadge()
    thumb.update(texts)
    keepFocus(
      tail,
      () => {
        main.update(mainChoice(item), texts)
        end.update(endChoice(item), texts)
      },
      () => root.focus(),
    )
  }

  function showNote(texts: Texts): void {
    const { cover } = item
    note.classList.toggle('problem', cover?.state === 'failed')
    note.textContent =
      cover?.state === 'failed'
        ? texts.coverFailed(cover.problem?.message ?? '')
        : cover?.state === 'uploading'
          ? texts.coverSending
          : ''
  }

  function showBadge(): void {
    const kind = item.state === 'ready' || item.state === 'uploaded' ? 'check' : problemBadge(item)
    if (kind === shown) return
    shown = kind
    badge.replaceChildren(...(kind ? [icon(icons[kind])] : []))
    setAttributes(badge, { 'data-kind': kind || null })
  }
  return { root, item, update }
}

const problemBadge = ({ state }: Item) => (state === 'failed' || state === 'rejected' ? 'alert' : '')

function actionButton(item: Item, actions: RowActions, part: string) {
  let current: Choice | null = null
  const root = button(`icon-button ${part}`, () => current && actions[current.action](item))
  root.classList.add('icon-button')
  root.hidden = true

  function update(choice: Choice | null, texts: Texts): void {
    root.hidden = choice === null
    if (choice) {
      const label = texts.of(choice.label(texts), item.file.name)
      setAttributes(root, { 'aria-label': label, title: (choice.hint ?? choice.label)(texts) })
      if (choice !== current) root.replaceChildren(icon(choice.icon))
    }
    current = choice
  }
  return { root, update }
}

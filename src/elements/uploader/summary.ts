import { button, element } from '../shared/dom.ts'
import { createBar } from './bar.ts'
import { keepFocus } from './focus.ts'
import { isUnsent, type Item } from './item.ts'
import type { Queue } from './queue.ts'
import { formatPercent, type Texts } from './texts.ts'

/** The bytes of all files that were or will be sent, 0–1. */
export function totalFraction(items: readonly Item[]): number {
  const counted = items.filter(({ state }) => state !== 'rejected' && state !== 'cancelled')
  const total = counted.reduce((sum, { file }) => sum + file.size, 0)
  return total > 0 ? counted.reduce((sum, { sent }) => sum + sent, 0) / total : 0
}

/** How many are through, and how many came to nothing, as a sentence. */
export function outcome(items: readonly Item[], texts: Texts): string {
  const count = (...states: string[]) => items.filter(({ state }) => states.includes(state)).length
  return texts.summary(count('ready', 'uploaded'), count('failed', 'rejected'))
}

/** The line above the list: how far the whole is, and what can be done with all of it. */
export function createSummary(queue: Queue) {
  const text = element('p', { class: 'total', part: 'summary', tabindex: -1 })
  const bar = createBar('total-progress')
  const start = button('button primary', () => queue.start())
  const hold = button('button hold', () => (queue.state().held ? queue.resume() : queue.pause()))
  const retry = button('button retry', () => queue.retry())
  const cancel = button('button cancel', () => queue.cancel())
  const clear = button('button clear', () => queue.remove(...queue.items.filter((item) => isOver(item))))
  const all = [start, hold, retry, cancel, clear]
  for (const one of all) one.classList.add('button')
  const actions = element('div', { class: 'actions' }, ...all)
  const root = element('div', { class: 'summary' }, text, actions, bar.root)

  function update(texts: Texts): void {
    const { items } = queue
    const { held, idle, problem } = queue.state()
    const unsent = items.filter(isUnsent)
    const busy = unsent.length > 0 && !idle && !problem
    root.hidden = items.length === 0
    text.textContent = sentence(items, held, texts)
    const fraction = totalFraction(items)
    bar.root.hidden = unsent.length === 0 || idle || problem !== null
    bar.show(texts.list, fraction, texts.percentDone(formatPercent(fraction, texts.locale)))
    keepFocus(actions, labels, () => text.focus())

    function labels(): void {
      label(start, idle && unsent.length > 0, texts.start(unsent.length))
      // A line of one has nothing to hold back.
      label(hold, busy && (held || unsent.length > 1), held ? texts.resumeAll : texts.pauseAll)
      label(cancel, unsent.length > 1 && !idle, texts.cancelAll)
      label(retry, unsent.length === 0 && items.some(isLost), texts.retryAll)
      label(clear, unsent.length === 0 && items.every(isOver), texts.clear)
    }
  }
  return { root, update }
}

const isOver = ({ state }: Item) => ['ready', 'uploaded', 'failed', 'rejected', 'cancelled'].includes(state)
const isLost = ({ state, retriable }: Item) => state === 'failed' && retriable

function sentence(items: readonly Item[], held: boolean, texts: Texts): string {
  const unsent = items.filter(isUnsent)
  if (held && unsent.length > 0) return texts.heldNote(items.filter(({ state }) => state === 'uploading').length)
  const counted = items.filter(({ state }) => state !== 'rejected' && state !== 'cancelled')
  const sent = counted.filter((item) => !isUnsent(item) && item.status !== null)
  const result = unsent.length > 0 ? '' : outcome(items, texts)
  return result || items.every(isOver) ? result : texts.total(sent.length, counted.length)
}

function label(target: HTMLButtonElement, shown: boolean, text: string): void {
  target.hidden = !shown
  target.textContent = text
}

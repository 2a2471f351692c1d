import { totalFraction, type UploadItem } from '../../client/upload/item.ts'
import type { UploadQueue } from '../../client/upload/queue.ts'
import { button, element } from '../shared/dom.ts'
import { formatPercent, type Language } from '../shared/upload_status.ts'
import { fill, fillNumber } from '../texts/texts.ts'
import { outcomeOf } from './announce.ts'
import { createBar, keepFocus } from './controls.ts'

/** Nothing is left to do with it. */
const isOver = (item: UploadItem) => item.isSettled && item.state !== 'interrupted'
const isLost = ({ state, retriable }: UploadItem) => state === 'failed' && retriable

/** The line above the list: how far the whole is, and what can be done with all of it. */
export class Summary {
  #text = element('p', { class: 'total', part: 'summary', tabindex: -1 })
  #bar = createBar('total-progress')
  #start = button('button primary', () => this.#queue.start())
  #hold = button('button hold', () => (this.#queue.isHeld ? this.#queue.resumeAll() : this.#queue.pauseAll()))
  #retry = button('button retry', () => this.#queue.retryFailed())
  #cancel = button('button cancel', () => this.#queue.cancel(...this.#queue.items))
  #clear = button('button clear', () => this.#queue.remove(...this.#queue.items.filter(isOver)))
  #actions = element('div', { class: 'actions' }, this.#start, this.#hold, this.#retry, this.#cancel, this.#clear)
  #queue: UploadQueue
  readonly root = element('div', { class: 'summary' }, this.#text, this.#actions, this.#bar.root)

  constructor(queue: UploadQueue) {
    this.#queue = queue
    for (const one of this.#actions.children) one.classList.add('button')
  }

  update(language: Language): void {
    const { texts, locale } = language
    const { items, isIdle, problem } = this.#queue
    const isSending = items.some((item) => item.isUnsent) && !isIdle && !problem
    this.root.hidden = items.length === 0
    this.#text.textContent = this.#sentence(language)
    const fraction = totalFraction(items)
    this.#bar.root.hidden = !isSending
    this.#bar.show(texts.list, fraction, fill(texts.percentDone, { percent: formatPercent(fraction, locale) }))
    keepFocus(
      this.#actions,
      () => this.#updateActions(isSending, language),
      () => this.#text.focus(),
    )
  }

  #updateActions(isSending: boolean, { texts, locale }: Language): void {
    const { items, isHeld, isIdle } = this.#queue
    const unsent = items.filter((item) => item.isUnsent).length
    label(this.#start, isIdle && unsent > 0, fillNumber(texts.start, unsent, locale))
    // A line of one has nothing to hold back.
    label(this.#hold, isSending && (isHeld || unsent > 1), isHeld ? texts.resume : texts.pause)
    label(this.#cancel, unsent > 1 && !isIdle, texts.cancelAll)
    label(this.#retry, unsent === 0 && items.some(isLost), texts.retryAll)
    label(this.#clear, unsent === 0 && items.some(isOver) && items.every((item) => item.isSettled), texts.clear)
  }

  #sentence(language: Language): string {
    const { texts, locale } = language
    const { items, isHeld } = this.#queue
    const unsent = items.filter((item) => item.isUnsent)
    if (isHeld && unsent.length > 0) {
      const sending = items.filter(({ state }) => state === 'uploading').length
      return sending > 0 ? fillNumber(texts.stillSending, sending, locale) : texts.held
    }
    const outcome = outcomeOf(items, language)
    if (unsent.length === 0 && (outcome || items.every((item) => item.isSettled))) return outcome
    const counted = items.filter(({ state }) => !['rejected', 'failed', 'cancelled', 'interrupted'].includes(state))
    const done = counted.filter((item) => !item.isUnsent).length
    const failed = items.filter(({ state }) => state === 'failed' || state === 'rejected').length
    const total = fillNumber(texts.total, counted.length, locale, { done: done.toLocaleString(locale) })
    return failed > 0 ? `${total}, ${fillNumber(texts.filesFailed, failed, locale)}` : total
  }
}

function label(target: HTMLButtonElement, shown: boolean, text: string): void {
  target.hidden = !shown
  target.textContent = text
}

import { type QueueEvents, totalFraction, type UploadEvents, type UploadItem } from '../../client/upload/item.ts'
import type { UploadQueue } from '../../client/upload/queue.ts'
import { button, element } from '../shared/dom.ts'
import { formatPercent, type Language, problemText } from '../shared/upload_status.ts'
import { fill, fillNumber } from '../texts/texts.ts'
import { createBar, keepFocus } from './controls.ts'

/** Whether a file needs nothing more from the queue or the user. */
const isDone = (item: UploadItem) => item.isSettled && item.state !== 'interrupted'
const canRetry = ({ state, retriable, file }: UploadItem) => state === 'failed' && retriable && file !== null

/** The summary above the list, with the total progress and the actions on all files. */
export class Summary {
  #text = element('p', { class: 'total', part: 'summary', tabindex: -1 })
  #bar = createBar('total-progress')
  #start = button('button primary', () => this.#queue.start())
  #hold = button('button hold', () => (this.#queue.isHeld ? this.#queue.resumeAll() : this.#queue.pauseAll()))
  #retry = button('button retry', () => this.#queue.retryFailed())
  #cancel = button('button cancel', () => this.#queue.cancel(...this.#queue.items))
  #clear = button('button clear', () => this.#queue.remove(...this.#queue.items.filter(isDone)))
  #actions = element('div', { class: 'actions' }, this.#start, this.#hold, this.#retry, this.#cancel, this.#clear)
  #queue: UploadQueue
  readonly root = element('div', { class: 'summary' }, this.#text, this.#actions, this.#bar.root)

  constructor(queue: UploadQueue) {
    this.#queue = queue
    for (const action of this.#actions.children) action.classList.add('button')
  }

  update(language: Language): void {
    const { texts, locale } = language
    const { items, isIdle, problem } = this.#queue
    const isSending = items.some((item) => item.isUnsent) && !isIdle && !problem
    this.#text.textContent = this.#sentence(language)
    const fraction = totalFraction(items)
    this.#bar.root.hidden = !isSending
    this.#bar.show(texts.list, fraction, fill(texts.percentDone, { percent: formatPercent(fraction, locale) }))
    keepFocus(
      this.#actions,
      () => this.#updateActions(isSending, language),
      () => this.#text.focus(),
    )
    const parts = [...this.#actions.children] as HTMLElement[]
    this.root.hidden = this.#text.textContent === '' && !isSending && parts.every(({ hidden }) => hidden)
  }

  #updateActions(isSending: boolean, { texts, locale }: Language): void {
    const { items, isHeld, isIdle } = this.#queue
    const unsent = items.filter((item) => item.isUnsent).length
    label(this.#start, isIdle && unsent > 0, fillNumber(texts.start, unsent, locale))
    // If only one file is left, there are no others to hold back.
    label(this.#hold, isSending && (isHeld || unsent > 1), isHeld ? texts.resume : texts.pause)
    label(this.#cancel, unsent > 1 && !isIdle, texts.cancelAll)
    label(this.#retry, unsent === 0 && items.some(canRetry), texts.retryAll)
    label(this.#clear, unsent === 0 && items.some(isDone) && items.every((item) => item.isSettled), texts.clear)
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
    return failed > 0 ? joined(locale, [total, fillNumber(texts.filesFailed, failed, locale)]) : total
  }
}

function label(target: HTMLButtonElement, shown: boolean, text: string): void {
  target.hidden = !shown
  target.textContent = text
}

/** Returns a text with the number of files that are ready and that failed. */
function outcomeOf(items: readonly UploadItem[], { texts, locale }: Language): string {
  const count = (...states: string[]) => items.filter(({ state }) => states.includes(state)).length
  const [ready, failed] = [count('ready', 'uploaded'), count('failed', 'rejected')]
  return joined(locale, [
    ...(ready > 0 ? [fillNumber(texts.filesReady, ready, locale)] : []),
    ...(failed > 0 ? [fillNumber(texts.filesFailed, failed, locale)] : []),
  ])
}

/** Joins parts with the separator of the language. */
const joined = (locale: string, parts: string[]) => new Intl.ListFormat(locale, { type: 'unit' }).format(parts)

/** Milliseconds for which sentences are collected, so that files that finish at the same time cause only one announcement. */
const COLLECT = 500
/** Minimum milliseconds between two announcements of progress. */
const PROGRESS_INTERVAL = 10_000
/** Minimum progress between two announcements of it, as a fraction. */
const STEP = 0.1

/** A live region for screen readers. It announces events, but not every percent of progress. */
export class Announcer {
  readonly root = element('p', { class: 'visually-hidden', role: 'status' })
  #sentences: string[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #spoken = { at: 0, fraction: 1 }

  say(sentence: string): void {
    if (!this.#sentences.includes(sentence)) this.#sentences.push(sentence)
    if (this.#timer) return
    this.#timer = setTimeout(() => {
      this.root.textContent = this.#sentences.slice(-5).join(' ')
      this.#sentences = []
      this.#timer = undefined
    }, COLLECT)
  }

  /** Announces an event. Ignores problems of all files, because the alert that shows them is itself a live region, and actions of the user. */
  report(
    type: keyof (UploadEvents & QueueEvents),
    items: readonly UploadItem[],
    language: Language,
    item?: UploadItem,
  ): void {
    const { texts } = language
    const sayOfItem = (text: string) => this.say(`${item?.name ?? ''}: ${text}`)
    switch (type) {
      case 'upload-progress':
        return this.#announceProgress(totalFraction(items), language)
      case 'file-rejected':
      case 'file-failed':
      case 'upload-retry':
      case 'track-unfollowed':
      case 'upload-pause':
        return item?.problem ? sayOfItem(problemText(item.problem, language, item)) : undefined
      case 'cover-failed': {
        const reason = item?.cover?.problem ? problemText(item.cover.problem, language) : ''
        return sayOfItem(fill(texts.coverFailed, { reason }))
      }
      case 'cover-complete':
        return sayOfItem(texts.coverReady)
      case 'upload-complete':
        return sayOfItem(texts.received)
      case 'track-ready':
        return sayOfItem(texts.ready)
      case 'queue-complete':
        return this.say(outcomeOf(items, language))
      default:
        return undefined
    }
  }

  #announceProgress(fraction: number, { texts, locale }: Language): void {
    // This is the first progress, or the progress has restarted at a lower value.
    if (fraction < this.#spoken.fraction) this.#spoken = { at: Date.now(), fraction }
    if (fraction - this.#spoken.fraction < STEP || Date.now() - this.#spoken.at < PROGRESS_INTERVAL) return
    this.#spoken = { at: Date.now(), fraction }
    this.say(fill(texts.percentDone, { percent: formatPercent(fraction, locale) }))
  }
}

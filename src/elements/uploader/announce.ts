import type { QueueEvents, UploadEvents } from '../../client/upload/events.ts'
import { totalFraction, type UploadItem } from '../../client/upload/item.ts'
import { element } from '../shared/dom.ts'
import { formatPercent, type Language, sentenceOf } from '../shared/upload_status.ts'
import { fill, fillNumber } from '../texts/texts.ts'

/** Sentences are gathered for so long, so that three files that end together are one announcement, in milliseconds. */
const GATHER = 500
/** Progress is not spoken more often, in milliseconds. */
const BETWEEN = 10_000
/** … nor in smaller steps, in parts of the whole. */
const STEP = 0.1

/** A live region for screen readers: what happens, without reading every percent aloud. */
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
    }, GATHER)
  }

  /** Tells of an event. What the alert says, and what the reader did himself, is left out. */
  tell(
    type: keyof (UploadEvents & QueueEvents),
    items: readonly UploadItem[],
    language: Language,
    item?: UploadItem,
  ): void {
    const { texts } = language
    const of = (text: string) => this.say(`${item?.name ?? ''}: ${text}`)
    switch (type) {
      case 'upload-progress':
        return this.#tellProgress(totalFraction(items), language)
      case 'file-rejected':
      case 'file-failed':
      case 'upload-retry':
      case 'track-unfollowed':
        return of(item?.problem ? sentenceOf(item.problem, language, item) : '')
      case 'cover-failed': {
        const reason = item?.cover?.problem ? sentenceOf(item.cover.problem, language) : ''
        return of(fill(texts.coverFailed, { reason }))
      }
      case 'cover-complete':
        return of(texts.coverReady)
      case 'upload-complete':
        return of(texts.received)
      case 'track-ready':
        return of(texts.ready)
      case 'queue-complete':
        return this.say(outcomeOf(items, language))
      default:
        return undefined
    }
  }

  #tellProgress(fraction: number, { texts, locale }: Language): void {
    // From the beginning, or again from there.
    if (fraction < this.#spoken.fraction) this.#spoken = { at: Date.now(), fraction }
    if (fraction - this.#spoken.fraction < STEP || Date.now() - this.#spoken.at < BETWEEN) return
    this.#spoken = { at: Date.now(), fraction }
    this.say(fill(texts.percentDone, { percent: formatPercent(fraction, locale) }))
  }
}

/** How many are through, and how many came to nothing, as a sentence. */
export function outcomeOf(items: readonly UploadItem[], { texts, locale }: Language): string {
  const count = (...states: string[]) => items.filter(({ state }) => states.includes(state)).length
  const [ready, failed] = [count('ready', 'uploaded'), count('failed', 'rejected')]
  return [
    ready > 0 && fillNumber(texts.filesReady, ready, locale),
    failed > 0 && fillNumber(texts.filesFailed, failed, locale),
  ]
    .filter(Boolean)
    .join(', ')
}

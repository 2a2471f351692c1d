import type { createAnnouncer } from './announce.ts'
import type { EventDetails } from './events.ts'
import type { Item } from './item.ts'
import { outcome, totalFraction } from './summary.ts'
import { formatPercent, type Texts } from './texts.ts'

/** Tells screen readers of an event. What the alert says, and what the reader did himself, is left out. */
export function speak<K extends keyof EventDetails>(
  announcer: ReturnType<typeof createAnnouncer>,
  name: K,
  detail: EventDetails[K],
  items: readonly Item[],
  texts: Texts,
): void {
  const { file, problem, message } = detail as { file?: File; problem?: { message: string } | null; message?: string }
  const of = (text: string) => announcer.say(`${file?.name ?? ''}: ${text}`)
  switch (name) {
    case 'upload-progress': {
      const fraction = totalFraction(items)
      return announcer.progress(fraction, () => texts.percentDone(formatPercent(fraction, texts.locale)))
    }
    case 'rejected':
    case 'failed':
    case 'retrying':
    case 'unfollowed':
      return of(message ?? problem?.message ?? '')
    case 'cover-failed':
      return of(texts.coverFailed(message ?? ''))
    case 'cover-complete':
      return of(texts.coverReady)
    case 'upload-complete':
      return of(texts.received)
    case 'ready':
      return of(texts.ready)
    case 'complete':
      return announcer.say(outcome(items, texts))
    default:
      return undefined
  }
}

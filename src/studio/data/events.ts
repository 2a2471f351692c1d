import type { TonearmEvent } from '../../contract/event.ts'
import { EVENT_DAYS, MAX_PAGE } from '../../contract/facts.ts'
import { HOUR } from '../../contract/time.ts'

interface EventPage {
  ok: true
  events: TonearmEvent[]
  after: number
  has_more: boolean
}

const KEPT = EVENT_DAYS * 24 * HOUR
/** The number of events that one call returns at least, and the maximum number of its requests. */
const ENOUGH = 30
const MAX_REQUESTS = 20
/** The range of sequence numbers that one response can always contain. */
const SHORTEST = MAX_PAGE - 1

/**
 * Returns the newest events up to a sequence number, newest first. The feed returns the oldest events first, and its numbers are times, so
 * this reads ranges of time, from the newest back, each as long as one response can contain.
 */
export async function eventsBefore<F extends { ok: false }>(
  read: (query: { after: number; limit: number }) => Promise<EventPage | F>,
  from: number | undefined,
): Promise<{ ok: true; entries: TonearmEvent[]; next: number | null } | F> {
  const now = Date.now()
  let until = from ?? Number.MAX_SAFE_INTEGER
  let head = Math.min(until, now)
  let span = HOUR
  const entries: TonearmEvent[] = []
  for (let requests = 0; requests < MAX_REQUESTS && entries.length < ENOUGH && until > now - KEPT; requests++) {
    const after = Math.floor(Math.max(now - KEPT, head - span))
    const answer = await read({ after, limit: MAX_PAGE })
    if (!answer.ok) return answer
    if (answer.has_more && answer.after < until) {
      if (span > SHORTEST) span = Math.max(SHORTEST, span / 8)
      // After a burst of events, the numbers are ahead of the time. The clock of the service may be ahead as well.
      else head = answer.after + SHORTEST
      continue
    }
    entries.push(...answer.events.filter(({ seq }) => seq <= until).toReversed())
    until = head = after
    span *= 4
  }
  if (until <= now - KEPT) return { ok: true, entries, next: null }
  // Whether there are earlier events. If the request fails, there may be.
  const oldest = await read({ after: now - KEPT, limit: 1 })
  const isEarlier = !oldest.ok || (oldest.events[0] ? oldest.events[0].seq <= until : oldest.has_more)
  return { ok: true, entries, next: isEarlier ? until : null }
}

import type { TonearmEvent } from '../../contract/event.ts'
import { EVENT_DAYS, MAX_PAGE } from '../../contract/facts.ts'

interface Read {
  ok: true
  events: TonearmEvent[]
  after: number
  has_more: boolean
}

const HOUR = 3_600_000
const KEPT = EVENT_DAYS * 24 * HOUR
/** Events that are enough for one look, and requests that are. */
const ENOUGH = 30
const MAX_REQUESTS = 20
/** So many numbers are held by one answer. */
const SHORTEST = MAX_PAGE - 1

/**
 * The newest events up to a number, newest first. The feed tells the oldest first, and its numbers are times: so it is asked for stretches
 * of time, from the newest back, each as long as one answer can hold.
 */
export async function eventsBefore<F extends { ok: false }>(
  read: (query: { after: number; limit: number }) => Promise<Read | F>,
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
      // Numbers run ahead of the time after many at once, or the service's clock does.
      else head = answer.after + SHORTEST
      continue
    }
    entries.push(...answer.events.filter(({ seq }) => seq <= until).toReversed())
    until = head = after
    span *= 4
  }
  if (until <= now - KEPT) return { ok: true, entries, next: null }
  // Nothing earlier is offered once the oldest of all has been read; what cannot be asked may be there.
  const oldest = await read({ after: now - KEPT, limit: 1 })
  const isEarlier = !oldest.ok || (oldest.events[0] ? oldest.events[0].seq <= until : oldest.has_more)
  return { ok: true, entries, next: isEarlier ? until : null }
}

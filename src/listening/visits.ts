import type { HeardReport } from '../contract/heard.ts'
import { type Range, union } from '../contract/ranges.ts'
import { DAY } from '../contract/time.ts'
import type { Difference, Listen } from './difference.ts'
import { type Caller, type Refusal, refuse, type SessionFacts } from './heard_call.ts'
import {
  grown,
  hasSeconds,
  OPEN_FOR,
  refuseListens,
  refuseTime,
  plays,
  refuseVisit,
  toListen,
  totalOf,
} from './physics.ts'
import { limited } from './ranges.ts'
import { demandOf, greediest, NewVisits, type Occupant, Senders } from './room.ts'
import { Voters } from './sums/sources.ts'

/** The open visits of a shard: the listens that their next reports may still change. */

/** A track in the database. */
export interface TrackFacts {
  id: string
  collection: string
  /** Seconds. */
  duration: number
}

type PackedListen = [track: string, ranges: Range[], again: Range[], muted: number, fast: number]
interface Listens {
  /** The listens from `first` on. */
  open: PackedListen[]
  /** The tracks of the listens before `first`, with the union of their ranges. */
  past: [track: string, ranges: Range[]][]
}

/** The state of a visit. It is stored in segments, with all of its fields. */
export interface Visit {
  id: string
  session: SessionFacts
  country: string | null
  source: string | null
  sequence: number
  /** Seconds of the last report. */
  age: number
  /** When the visit started, and when its last report arrived, in milliseconds since 1970. */
  started_at: number
  at: number
  /** The index of the first open listen, and the seconds of all listens before it. */
  first: number
  finished: number
  /** The number of the sender of its last report (`Senders`). */
  sender?: number
  /** The collections of the tracks that were heard. */
  collections: string[]
  /** `Listens` as JSON: a text takes a fifth of the memory of its objects, and most visits do not change any more. */
  listens: string
}

/** A visit that was closed early. Its later reports must not count again. */
export interface ClosedVisit {
  id: string
  sequence: number
  closed_at: number
}

/** A report that was accepted, as it is stored in a segment. */
export interface Accepted {
  visit: string
  /** Only in the first report of the visit. */
  session?: SessionFacts
  country: string | null
  source: string | null
  /** Only in the first report of a visit that gives the vote of its address to its source. */
  isVote?: boolean
  sender?: number
  sequence: number
  age: number
  at: number
  first: number
  listens: PackedListen[]
}

/** Maximum characters of the listens of a visit. `Heard` starts another visit before that. */
const MAX_LISTENS_SIZE = 16_000
/** Maximum number of ranges of a track in the listens of a visit that are finished. */
const MAX_PAST_RANGES = 50
/** Characters of a visit without its listens, at most: those of its fields and its source, and of the objects that hold them. */
const VISIT_SIZE = 1000
/** Maximum characters of all open visits, and the part of it that remains after visits were closed. They are in memory, and each fold writes them into the log. */
export const MAX_OPEN_SIZE = 40_000_000
const REMAINING = 0.9
/** Characters up to which a session at an address is not greedy: those of its largest visit. */
const MODEST = VISIT_SIZE + MAX_LISTENS_SIZE
/** Maximum number of visits that were closed early and are remembered. */
const MAX_CLOSED = 40_000

const NO_LISTENS: Listens = { open: [], past: [] }

/** Returns the characters of a visit, at most. The id of a collection has 39. */
const sizeOf = ({ listens, collections }: Visit) => VISIT_SIZE + listens.length + 40 * collections.length

const pairOf = (session_id: string, sender: number | string = '') => `${session_id} ${sender}`

const toObject = ([, ranges, again, muted, fast]: PackedListen): Listen => ({ ranges, again, muted, fast })

export class Visits {
  /** Maximum characters of all visits. */
  readonly #room: number
  /** In the order of their last reports. */
  readonly #visits = new Map<string, Visit>()
  readonly #senders = new Senders()
  /** In the order in which they were closed. */
  readonly #closed = new Map<string, ClosedVisit>()
  readonly #voters = new Voters()
  readonly #newVisits = new NewVisits()
  /** When the last visit would have ended that was closed early and is no longer remembered, in milliseconds since 1970. */
  #forgottenUntil = 0
  /** Characters of the open visits. */
  length = 0

  constructor(room = MAX_OPEN_SIZE) {
    this.#room = room
  }

  /** The number of visits that are open or were closed early. */
  get size(): number {
    return this.#visits.size + this.#closed.size
  }

  /** The visits that are open or were closed early. */
  *values(): Iterable<Visit | ClosedVisit> {
    yield* this.#closed.values()
    yield* this.#visits.values()
  }

  /** Adds a visit of the log. If it was closed early, it may still be open here. */
  restore(visit: Visit | ClosedVisit): void {
    if ('closed_at' in visit) return this.#closeEarly(visit)
    this.#senders.restore(visit.sender)
    this.#visits.set(visit.id, visit)
    this.length += sizeOf(visit)
  }

  #delete(id: string): void {
    const visit = this.#visits.get(id)
    if (!visit) return
    this.#visits.delete(id)
    this.length -= sizeOf(visit)
  }

  #closeEarly(closed: ClosedVisit): void {
    this.#delete(closed.id)
    this.#closed.set(closed.id, closed)
    if (this.#closed.size <= MAX_CLOSED) return
    const [oldest] = this.#closed.values()
    this.#closed.delete(oldest!.id)
    this.#forgottenUntil = oldest!.closed_at + OPEN_FOR
  }

  /** Closes the visits without a recent report. */
  close(now: number): void {
    for (const [id, { closed_at }] of this.#closed) {
      if (closed_at > now - OPEN_FOR) break
      this.#closed.delete(id)
    }
    for (const [id, visit] of this.#visits) {
      if (visit.at > now - OPEN_FOR) return
      this.#delete(id)
    }
  }

  #occupants(): (Occupant & { visit: Visit })[] {
    return [...this.#visits.values()].map((visit) => {
      const pair = pairOf(visit.session.id, visit.sender)
      return { visit, size: sizeOf(visit), pair, address: String(visit.sender ?? pair) }
    })
  }

  /** Returns the characters of the open visits, of which no session at an address counts with more than one large visit. */
  demand = (): number => demandOf(this.#occupants(), MODEST)

  /** Closes visits if too much is open, those of the greediest senders first. Returns them for the log, which reproduces this when the object starts. */
  makeRoom(now: number): ClosedVisit[] {
    if (this.length <= this.#room) return []
    const closed: ClosedVisit[] = []
    for (const { visit } of greediest(this.#occupants(), MODEST)) {
      if (this.length <= this.#room * REMAINING) break
      closed.push({ id: visit.id, sequence: visit.sequence, closed_at: now })
      this.#closeEarly(closed.at(-1)!)
    }
    return closed
  }

  /** Whether a report repeats or precedes one that was accepted. A report of another session does neither; `check` refuses it. */
  isOld({ visit, sequence }: HeardReport, session: SessionFacts): boolean {
    if (sequence <= (this.#closed.get(visit)?.sequence ?? 0)) return true
    const known = this.#visits.get(visit)
    return known !== undefined && known.session.id === session.id && sequence <= known.sequence
  }

  /** Checks a report. Returns why it is refused, or the form in which `apply` takes it. */
  check(
    report: HeardReport,
    session: SessionFacts,
    { country, client: address }: Caller,
    tracks: Map<string, TrackFacts>,
    now: number,
  ): Refusal | Accepted {
    const { visit: id, sequence, age, first, source = null } = report
    const visit = this.#visits.get(id)
    if (this.#closed.has(id) || (!visit && sequence > 1 && now < this.#forgottenUntil))
      return refuse('late', 'visit', 'was closed early, because too many or too large ones are open')
    const foreign = refuseVisit(report, session, visit)
    if (foreign) return foreign
    const { open } = visit ? (JSON.parse(visit.listens) as Listens) : NO_LISTENS
    const skipped = first - (visit?.first ?? 0)
    const broken = refuseListens(report, first - skipped, open.length)
    if (broken) return broken
    const listens: PackedListen[] = []
    for (const [at, reported] of report.listens.entries()) {
      const facts = tracks.get(reported.track)
      const before = open[skipped + at]
      // A track that was moved during the visit may end its listen.
      if (!facts || (before?.[0] !== facts.id && !plays(session.via, facts)))
        return refuse('track', `listens.${at}.track`, 'does not exist, or is not what the session plays')
      if (before && before[0] !== facts.id)
        return refuse('visit', `listens.${at}.track`, 'differs from the one that was reported before')
      if (!before && at < report.listens.length - 1 && !hasSeconds(reported))
        return refuse('ranges', `listens.${at}`, 'has no seconds, which only a new listen at the end may have')
      const heard = toListen(reported, facts.duration, at)
      const listen = 'reason' in heard || !before ? heard : grown(heard, toObject(before), facts.duration, at)
      if ('reason' in listen) return listen
      listens.push([facts.id, listen.ranges, listen.again, listen.muted, listen.fast])
    }
    const finished = (visit?.finished ?? 0) + totalOf(open.slice(0, skipped).map(toObject))
    const impossible = refuseTime(report, finished + totalOf(listens.map(toObject)), visit, session.created_at, now)
    if (impossible) return impossible
    const added = JSON.stringify(listens).length - JSON.stringify(open.slice(skipped)).length
    if ((visit?.listens.length ?? 0) + added > MAX_LISTENS_SIZE)
      return refuse('visit', 'listens', `must be at most ${MAX_LISTENS_SIZE} characters of JSON in a visit`)
    const tooMany = visit ? null : this.#newVisits.refuse(pairOf(session.id, address), now)
    if (tooMany) return tooMany
    const isVote = !visit && source !== null && this.#voters.vote(Math.floor(now / DAY), address || session.id)
    return {
      visit: id,
      ...(!visit && { session }),
      country: visit ? visit.country : country,
      source: visit ? visit.source : source,
      ...(isVote && { isVote }),
      sender: this.#senders.numberOf(address, visit?.sender),
      sequence,
      age,
      at: now,
      first,
      listens,
    }
  }

  /** Changes the visit of an accepted report, and calls `change` for each listen that changes. */
  apply(report: Accepted, factsOf: (track: string) => TrackFacts, change: (difference: Difference) => void): void {
    const { visit: id, session, sequence, age, at, first, country, source, isVote = false, sender } = report
    const known = this.#visits.get(id)
    if (known ? sequence <= known.sequence : !session) return
    const size = known ? sizeOf(known) : 0
    const visit: Visit = known ?? {
      id,
      session: session!,
      country,
      source,
      sequence,
      age,
      at,
      started_at: at - age * 1000,
      first: 0,
      finished: 0,
      collections: [],
      listens: '',
    }
    const { open, past } = known ? (JSON.parse(known.listens) as Listens) : { open: [], past: [] }
    const finished = open.splice(0, first - visit.first)
    for (const [track, ranges] of finished) {
      const found = past.find(([id]) => id === track)
      if (found) found[1] = limited(union(found[1], ranges), MAX_PAST_RANGES)
      else past.push([track, limited(ranges, MAX_PAST_RANGES)])
    }
    const via = visit.session.via
    for (const [index, listen] of report.listens.entries()) {
      const { id: track, collection, duration } = factsOf(listen[0])
      const before = open[index]
      if (before && JSON.stringify(before) === JSON.stringify(listen)) continue
      const isNewVisit = open.length === 0 && past.length === 0
      const others = [...past, ...open.filter((_, at) => at !== index)].filter(([id]) => id === track)
      change({
        track,
        collection,
        duration,
        via,
        visit: id,
        day: Math.floor(at / DAY),
        country,
        source,
        isNewVisit,
        isVote: isNewVisit && isVote,
        before: before ? toObject(before) : null,
        after: toObject(listen),
        others: others.reduce<Range[]>((all, [, ranges]) => union(all, ranges), []),
        isNewTrackInVisit: !before && others.length === 0,
        isNewCollectionInVisit: !visit.collections.includes(collection),
      })
      if (!visit.collections.includes(collection)) visit.collections.push(collection)
      open[index] = listen
    }
    visit.finished += totalOf(finished.map(toObject))
    this.#senders.restore(sender)
    Object.assign(visit, { sender, sequence, age, at, first, listens: JSON.stringify({ open, past }) })
    // The visit moves to the end of the order.
    this.#visits.delete(id)
    this.#visits.set(id, visit)
    this.length += sizeOf(visit) - size
  }
}

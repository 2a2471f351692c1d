import type { HeardReport } from '../../contract/heard.ts'
import type { Difference, Listen, Range } from './difference.ts'
import { endOf, MAX_LISTENS, refuseTime, toListen, totalOf } from './physics.ts'
import { secondsOf, tenth, union } from './ranges.ts'
import { type Refusal, refuse } from './refusal.ts'

/** The open visits of a shard: the listens that their next reports may still change. */

/** A track in the database. */
export interface TrackFacts {
  id: string
  collection: string
  /** Seconds. */
  duration: number
}

/** The parts of a session that its reports are counted with. */
export interface SessionFacts {
  id: string
  created_at: number
  via: Difference['via']
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
  /** The collections of the tracks that were heard. */
  collections: string[]
  /** `Listens` as JSON: a text takes a fifth of the memory of its objects, and most visits do not change any more. */
  listens: string
}

/** A report that was accepted, as it is stored in a segment. */
export interface Accepted {
  visit: string
  /** Only in the first report of the visit. */
  session?: SessionFacts
  country: string | null
  source: string | null
  sequence: number
  age: number
  at: number
  first: number
  listens: PackedListen[]
}

/** Milliseconds after its last report for which a visit stays open. */
const OPEN_FOR = 30 * 60_000
/**
 * Age in seconds from which a report of an unknown visit is refused unless it is the first one: the visit may have been counted and closed. A minute less,
 * because the last report may have taken longer than this one.
 */
const LATE_AGE = OPEN_FOR / 1000 - 60
/** Maximum number of new visits of a session per minute, and of open visits. */
const MAX_NEW_VISITS = 300
export const MAX_OPEN_VISITS = 40_000
/** Maximum characters of the listens of a visit. `Heard` starts another visit before that. */
const MAX_LISTENS_SIZE = 64_000
/** Maximum characters of all open visits. They are in memory, and each fold writes them into the log. */
export const MAX_OPEN_SIZE = 40_000_000

const FULL = 'has no room, because too many or too large visits are open'
const NO_LISTENS: Listens = { open: [], past: [] }
const DAY = 24 * 3600_000

/** Returns the characters of a visit in the log, at least. Its fields and its source have up to 500, the id of a collection 39. */
const sizeOf = ({ listens, collections }: Visit) => 500 + listens.length + 40 * collections.length

/** Whether a session plays a track. The tracks of a playlist are not known here. */
const plays = ({ scope, id }: SessionFacts['via'], track: TrackFacts) =>
  scope === 'playlist' || id === (scope === 'track' ? track.id : track.collection)

/** Whether a session plays a track, and no range of a report ends after the track. */
export const fits = ({ listens }: HeardReport, via: SessionFacts['via'], facts: TrackFacts): boolean =>
  plays(via, facts) &&
  listens.every(
    ({ track, ranges }) => track !== facts.id || ranges.every(([, until]) => until! <= endOf(facts.duration)),
  )

/** Returns why a report belongs neither to its visit nor to a new one; null if it does. */
function refuseVisit(report: HeardReport, session: SessionFacts, visit: Visit | undefined): Refusal | null {
  const { sequence, age, first } = report
  if (visit) return visit.session.id === session.id ? null : refuse('visit', 'visit', 'belongs to another session')
  if (sequence > 1 && age > LATE_AGE)
    return refuse('late', 'visit', `is no longer known, and cannot start again at an age of ${age} seconds`)
  return first > 0 ? refuse('late', 'first', `must be 0 in a new visit, not ${first}`) : null
}

/** Returns why a report does not continue the listens of its visit, of which `open` may still change; null if it does. */
function refuseListens({ first, listens }: HeardReport, known: number, open: number): Refusal | null {
  const skipped = first - known
  if (skipped < 0) return refuse('visit', 'first', `went back from ${known} to ${first}`)
  if (skipped > open) return refuse('visit', 'first', `is ${first}, but only ${known + open} listens were reported`)
  const all = first + listens.length
  if (all > MAX_LISTENS) return refuse('visit', 'listens', `must be at most ${MAX_LISTENS} in a visit, not ${all}`)
  if (listens.length < open - skipped)
    return refuse(
      'visit',
      'listens',
      `must have the ${open - skipped} that were reported from first on, not ${listens.length}`,
    )
  return null
}

const refuseLess = (at: number, seconds: number, known: number) =>
  refuse('ranges', `listens.${at}`, `has ${tenth(seconds)} seconds, but ${tenth(known)} were reported before`)

const toObject = ([, ranges, again, muted, fast]: PackedListen): Listen => ({ ranges, again, muted, fast })

export class Visits {
  /** In the order of their last reports. */
  readonly #visits = new Map<string, Visit>()
  /** The number of new visits in the current minute, by session. */
  #newVisits = new Map<string, number>()
  #minute = 0
  /** Characters of the open visits. */
  length = 0

  get size(): number {
    return this.#visits.size
  }

  values(): Iterable<Visit> {
    return this.#visits.values()
  }

  restore(visit: Visit): void {
    this.#visits.set(visit.id, visit)
    this.length += sizeOf(visit)
  }

  /** Closes the visits without a recent report. */
  close(now: number): void {
    for (const [id, visit] of this.#visits) {
      if (visit.at > now - OPEN_FOR) return
      this.#visits.delete(id)
      this.length -= sizeOf(visit)
    }
  }

  /** Whether a report repeats or precedes one that was accepted. A report of another session does neither; `check` refuses it. */
  isOld({ visit, sequence }: HeardReport, session: SessionFacts): boolean {
    const known = this.#visits.get(visit)
    return known !== undefined && known.session.id === session.id && sequence <= known.sequence
  }

  /** Checks a report. Returns why it is refused, or the form in which `apply` takes it. */
  check(
    report: HeardReport,
    session: SessionFacts,
    country: string | null,
    tracks: Map<string, TrackFacts>,
    now: number,
  ): Refusal | Accepted {
    const { visit: id, sequence, age, first, source = null } = report
    const visit = this.#visits.get(id)
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
      const listen = toListen(reported, facts.duration, at)
      if ('reason' in listen) return listen
      if (before && secondsOf(listen) < secondsOf(toObject(before)) - 0.5)
        return refuseLess(at, secondsOf(listen), secondsOf(toObject(before)))
      listens.push([facts.id, listen.ranges, listen.again, listen.muted, listen.fast])
    }
    const finished = (visit?.finished ?? 0) + totalOf(open.slice(0, skipped).map(toObject))
    const impossible = refuseTime(report, finished + totalOf(listens.map(toObject)), visit, session.created_at, now)
    if (impossible) return impossible
    const added = JSON.stringify(listens).length - JSON.stringify(open.slice(skipped)).length
    if ((visit?.listens.length ?? 0) + added > MAX_LISTENS_SIZE)
      return refuse('visit', 'listens', `must be at most ${MAX_LISTENS_SIZE} characters of JSON in a visit`)
    if (this.length + added > MAX_OPEN_SIZE) return refuse('full', 'visit', FULL)
    const limited = visit ? null : this.#limit(session.id, now)
    if (limited) return limited
    return {
      visit: id,
      ...(!visit && { session }),
      country: visit ? visit.country : country,
      source: visit ? visit.source : source,
      sequence,
      age,
      at: now,
      first,
      listens,
    }
  }

  #limit(session: string, now: number): Refusal | null {
    if (this.#visits.size >= MAX_OPEN_VISITS) return refuse('full', 'visit', FULL)
    const minute = Math.floor(now / 60_000)
    if (minute !== this.#minute) this.#newVisits = new Map()
    this.#minute = minute
    const count = (this.#newVisits.get(session) ?? 0) + 1
    if (count > MAX_NEW_VISITS)
      return refuse('rate', 'visit', `is one of more than ${MAX_NEW_VISITS} that the session started in this minute`)
    this.#newVisits.set(session, count)
    return null
  }

  /** Changes the visit of an accepted report, and calls `change` for each listen that changes. */
  apply(report: Accepted, factsOf: (track: string) => TrackFacts, change: (difference: Difference) => void): void {
    const { visit: id, session, sequence, age, at, first, country, source } = report
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
      if (found) found[1] = union(found[1], ranges)
      else past.push([track, ranges])
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
    Object.assign(visit, { sequence, age, at, first, listens: JSON.stringify({ open, past }) })
    // The visit moves to the end of the order.
    this.#visits.delete(id)
    this.#visits.set(id, visit)
    this.length += sizeOf(visit) - size
  }
}

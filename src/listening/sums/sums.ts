import { STATS_SCOPES, type StatsScope } from '../../contract/stats_scope.ts'
import type { Difference } from '../difference.ts'
import {
  addLabels,
  addReasons,
  type Bucket,
  bucketOf,
  Buckets,
  type Days,
  filled,
  type Labels,
  leading,
  packLabels,
  trim,
} from './buckets.ts'
import { addCounts, type Counts, noCounts } from './counts.ts'
import { addPacked, addSteps, type Curve, emptyCurve, isSameRecording } from './curve.ts'
import { type Kind, MAX_SOURCES, Memory, type Place, SELF, type SubjectDetails } from './memory.ts'
import { Sources } from './sources.ts'

/** The sums of listening by resource and day (docs/decisions/0104). Days are in days since 1970, in UTC. */

/**
 * `kept`: the first day that is read as a day. Whole months before it are read as months. `only`: the country or source to which all counts belong, if not
 * everything is counted.
 */
export type StatsQuery = Days & {
  scope: StatsScope
  id: string
  by: 'day' | Kind
  kept?: number
  only?: { kind: Kind; text: string }
}
export interface Stats {
  totals: Counts
  /** The days and months that have counts (`20000`, `month 660`), or all countries or sources that have separate counts. */
  rows: [key: string, counts: Counts][]
  /** The number of refused reports by reason, for an organization. */
  refused: Record<string, number>
}
export type TopQuery = Days & { scope: StatsScope; limit: number }
export type CountsQuery = Days & { scope: StatsScope; ids: string[] }
export type CurveQuery = Days & { track: string; duration: number; kept?: number }

export class Sums {
  readonly #sources: Sources
  readonly #buckets: Buckets
  #memory: Memory

  constructor(sql: SqlStorage) {
    this.#sources = new Sources(sql)
    this.#buckets = new Buckets(sql, this.#sources)
    this.#memory = new Memory(this.#sources.votesOf)
  }

  /** Bytes in memory. */
  get bytes(): number {
    return this.#memory.bytes
  }

  /** Whether the sums have to be folded. */
  get isFull(): boolean {
    return this.#memory.isFull
  }

  /** Whether there is nothing to fold. */
  get isEmpty(): boolean {
    return this.#memory.subjects.length === 0
  }

  /** Adds what a report changes in one listen. */
  add(difference: Difference): void {
    if (difference.isVote) this.#sources.add(difference.day, difference.source!)
    this.#memory.add(difference)
  }

  /** Counts a download. */
  download = (place: Place): void => this.#memory.addDownload(place)

  /** Counts reports that were refused. */
  refuse = (day: number, reason: string, reports: number): void => this.#memory.addRefused(day, reason, reports)

  /** Adds the sums in memory to their rows, and forgets them. The caller does it in the transaction that deletes the segments of the reports. */
  fold(): void {
    const memory = this.#memory
    const detailsOf = memory.details()
    const buckets = Map.groupBy(memory.subjects.keys(), (index) => {
      const { scope, day, id } = memory.subjects[index]!
      return `${scope} ${day} ${bucketOf(id)}`
    })
    for (const indexes of buckets.values()) {
      const { scope, day, id } = memory.subjects[indexes[0]!]!
      const bucket = this.#buckets.read('day', scope, day, bucketOf(id))
      for (const index of indexes) this.#addTo(bucket, index, detailsOf(index))
      this.#buckets.write('day', scope, day, bucketOf(id), bucket, (source) => this.#sources.votesOf(day, source))
    }
    this.#sources.fold()
    this.#memory = new Memory(this.#sources.votesOf)
  }

  /** Whether there is something of an earlier day to fold. */
  isBefore = (day: number): boolean => (this.#memory.subjects[0]?.day ?? day) < day

  /** Deletes old days, and closes months (see `Buckets`). The days before must be folded. */
  close = (today: number): Promise<boolean> => this.#buckets.close(today)

  /** The day on which the next month can be closed, in days since 1970; 0 if no rows are left that become months or end. */
  closesOn = (today: number): number => this.#buckets.closesOn(today)

  /** Whether a resource has been counted on any day. */
  has = ({ scope, id }: Pick<StatsQuery, 'scope' | 'id'>): boolean => {
    const at = STATS_SCOPES.indexOf(scope)
    return this.#memory.subjects.some((each) => each.scope === at && each.id === id) || this.#buckets.has(at, id)
  }

  /** Adds the sums in memory of one resource to its row. */
  #addTo({ totals, details }: Bucket, index: number, added: SubjectDetails): void {
    const memory = this.#memory
    const { scope, day, id, duration, visits } = memory.subjects[index]!
    const old = details[id]
    totals[id] = trim(addCounts(memory.totals(index), totals[id] ?? []))
    const countries = packLabels(addLabels(new Map(added.country), Object.entries(old?.countries ?? {})))
    const allSources = [...addLabels(new Map(added.source), Object.entries(old?.sources ?? {}))]
    const votesOf = (source: string) => this.#sources.votesOf(day, source)
    // A day with too many sources names only those that have a vote.
    const named = allSources.length < MAX_SOURCES ? allSources : allSources.filter(([source]) => votesOf(source) > 0)
    const sources = packLabels(leading(named, MAX_SOURCES, votesOf))
    const curve = duration > 0 ? addSteps(old?.curve, duration, visits, added.steps) : old?.curve
    const refused = scope === 0 ? addReasons({}, old?.refused, memory.refused(day)) : {}
    details[id] = filled({ countries, sources, ...(curve && { curve }), refused })
  }

  /** Returns the sums of a resource: of its rows and of the memory. */
  stats({ scope, id, by, kept = -Infinity, only, ...days }: StatsQuery): Stats {
    const at = STATS_SCOPES.indexOf(scope)
    const key = scope === 'organization' ? SELF : id
    const totals = noCounts()
    const rows: Labels = new Map()
    const refused: Record<string, number> = {}
    for (const [span, number] of this.#buckets.spans(days, kept)) {
      const bucket = this.#buckets.read(span, at, number, bucketOf(key))
      const index = span === 'day' ? this.#memory.find(at, number, key) : undefined
      const folded = bucket.totals[key]
      if (!folded && index === undefined) continue
      const details = bucket.details[key]
      const labelsOf = (kind: Kind) => [
        ...Object.entries((kind === 'country' ? details?.countries : details?.sources) ?? {}),
        ...(index === undefined ? [] : this.#memory.labels(index, kind)),
      ]
      const counts = noCounts()
      if (only) {
        for (const [text, some] of labelsOf(only.kind)) if (text === only.text) addCounts(counts, some)
      } else {
        addCounts(counts, folded ?? [])
        if (index !== undefined) addCounts(counts, this.#memory.totals(index))
      }
      addCounts(totals, counts)
      if (scope === 'organization')
        addReasons(refused, details?.refused, span === 'day' ? this.#memory.refused(number) : {})
      if (by === 'day') rows.set(span === 'day' ? String(number) : `month ${number}`, counts)
      else addLabels(rows, labelsOf(by))
    }
    return { totals, rows: [...rows], refused }
  }

  /**
   * Calls `add` with the counts of resources by month, and by day at the ends: with those of a day at once, so that a fold in between loses nothing. Between two
   * days, others have their turn.
   */
  async #addUp(
    { scope, ...days }: Days & { scope: StatsScope },
    add: (id: string, counts: Counts) => void,
    ids?: string[],
  ) {
    const at = STATS_SCOPES.indexOf(scope)
    const buckets = ids && [...new Set(ids.map(bucketOf))]
    for (const [span, number] of this.#buckets.spans(days)) {
      for (const totals of this.#buckets.totals(span, at, number, buckets))
        for (const id of Object.keys(totals)) add(id, totals[id]!)
      if (span === 'day')
        for (const [index, subject] of this.#memory.subjects.entries())
          if (subject.scope === at && subject.day === number) add(subject.id, this.#memory.totals(index))
      await scheduler.wait(0)
    }
  }

  /** Returns the resources with the most plays, and their plays. */
  async top({ limit, ...query }: TopQuery): Promise<[id: string, plays: number][]> {
    const plays = new Map<string, number>()
    await this.#addUp(query, (id, counts) => void plays.set(id, (plays.get(id) ?? 0) + (counts[0] ?? 0)))
    return [...plays].toSorted(([a, one], [b, two]) => two - one || (a < b ? -1 : 1)).slice(0, limit)
  }

  /** Returns the sums of several resources. */
  async counts({ ids, ...query }: CountsQuery): Promise<[id: string, counts: Counts][]> {
    const sums: Labels = new Map()
    const wanted = new Set(ids)
    const add = (id: string, counts: Counts) => void (wanted.has(id) && addLabels(sums, [[id, counts]]))
    await this.#addUp(query, add, ids)
    return [...sums]
  }

  /** Returns the curve of the recordings of a track that have this duration. */
  curve({ track, duration, kept = -Infinity, ...days }: CurveQuery): Curve {
    const scope = STATS_SCOPES.indexOf('track')
    const sum = emptyCurve(duration)
    for (const [span, number] of this.#buckets.spans(days, kept)) {
      const packed = this.#buckets.read(span, scope, number, bucketOf(track)).details[track]?.curve
      if (packed) addPacked(sum, duration, packed)
      const index = span === 'day' ? this.#memory.find(scope, number, track) : undefined
      if (index !== undefined && isSameRecording(this.#memory.subjects[index]!.duration, duration))
        this.#memory.addCurveTo(sum, index)
    }
    return sum
  }
}

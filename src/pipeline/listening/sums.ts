import { STATS_SCOPES, type StatsScope } from '../../contract/stats_scope.ts'
import { addCounts, type Counts, noCounts } from './counts.ts'
import { addPacked, addSteps, type Curve, emptyCurve, isSameRecording, type PackedCurve } from './curve.ts'
import type { Difference } from './difference.ts'
import { type Kind, MAX_SOURCES, Memory, type Place, SELF, type SubjectDetails } from './memory.ts'
import { Sources } from './sources.ts'

/** The sums of listening by resource and day (docs/decisions/0104). Days are in days since 1970, in UTC. */

/**
 * The resources of a day are in at most this number of rows. A row for each would be cheap for a thousand tracks, but not for a hundred thousand, of which
 * most are heard twice a day. The totals come first: SQLite reads a long row only as far as a query needs.
 */
const BUCKETS = 4096
/** Maximum characters of the details in a row, of up to three bytes each. SQLite in Durable Objects allows 2 MB for a row (Durable Objects, Limits). */
const MAX_DETAILS = 600_000
const TABLE = `create table if not exists day (scope integer, day integer, bucket integer, totals text, details text,
  primary key (scope, day, bucket)) without rowid`
const READ = 'select totals, details from day where scope = ? and day = ? and bucket = ?'
const WRITE = 'insert or replace into day values (?, ?, ?, ?, ?)'

/** Ids are random at their end. */
const bucketOf = (id: string) => Number.parseInt(id.slice(-3) || '0', 16)

/** Everything of a resource on a day except the totals. */
interface Details {
  countries?: Record<string, Counts>
  sources?: Record<string, Counts>
  curve?: PackedCurve
  /** The number of refused reports by reason. */
  refused?: Record<string, number>
}
/** The resources in a row, by id. */
interface Bucket {
  totals: Record<string, Counts>
  details: Record<string, Details>
}

/** Days, both included. */
interface Days {
  from: number
  to: number
}
export type StatsQuery = Days & { scope: StatsScope; id: string; by: 'day' | Kind }
export interface Stats {
  totals: Counts
  /** The days that have counts, or all countries or sources that have separate counts. */
  rows: [key: string, counts: Counts][]
  /** The number of refused reports by reason, for an organization. */
  refused: Record<string, number>
}
export type TopQuery = Days & { scope: StatsScope; limit: number }
export type CountsQuery = Days & { scope: StatsScope; ids: string[] }
export type CurveQuery = Days & { track: string; duration: number }

type Labels = Map<string, Counts>

function addLabels(sum: Labels, labels: Iterable<[string, Counts]>): Labels {
  for (const [text, counts] of labels) sum.set(text, addCounts(sum.get(text) ?? noCounts(), counts))
  return sum
}

/** Counts in rows have no zeros at their end. */
const trim = (counts: Counts) => counts.slice(0, counts.findLastIndex(Boolean) + 1)
const packLabels = (labels: Iterable<[string, Counts]>) =>
  Object.fromEntries([...labels].map(([text, counts]) => [text, trim(counts)]))

/** Returns the sources with the most votes, and of those with equal votes the ones with the most visits. */
const leading = (sources: [string, Counts][], most: number, votesOf: (source: string) => number) =>
  sources.toSorted(([one, [, a = 0]], [two, [, b = 0]]) => votesOf(two) - votesOf(one) || b - a).slice(0, most)

/** Returns the details of a row as JSON. If they are too long, only the leading sources remain, and if necessary no curves. */
function packDetails(details: Bucket['details'], votesOf: (source: string) => number): string {
  let text = JSON.stringify(details)
  for (const most of [50, 20, 5, 0]) {
    if (text.length <= MAX_DETAILS) break
    for (const each of Object.values(details)) {
      if (each.sources) each.sources = Object.fromEntries(leading(Object.entries(each.sources), most, votesOf))
      if (most === 0) delete each.curve
    }
    text = JSON.stringify(details)
  }
  return text
}

function addReasons(sum: Record<string, number>, ...all: (Record<string, number> | undefined)[]) {
  for (const reasons of all)
    for (const [reason, reports] of Object.entries(reasons ?? {})) sum[reason] = (sum[reason] ?? 0) + reports
  return sum
}

export class Sums {
  readonly #sql: SqlStorage
  readonly #sources: Sources
  #memory: Memory

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(TABLE)
    this.#sources = new Sources(sql)
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
  download = (place: Omit<Place, 'source'>): void => this.#memory.addDownload(place)

  /** Counts reports that were refused. */
  refuse = (day: number, reason: string, reports: number): void => this.#memory.addRefused(day, reason, reports)

  /** Adds the sums in memory to their rows, and forgets them. The caller does it in the transaction that deletes the segments of the reports. */
  fold(): void {
    const memory = this.#memory
    const detailsOf = memory.details()
    const buckets = Map.groupBy(memory.subjects.keys(), (index) => {
      const { scope, day, id } = memory.subjects[index]!
      return (day * STATS_SCOPES.length + scope) * BUCKETS + bucketOf(id)
    })
    for (const indexes of buckets.values()) {
      const { scope, day, id } = memory.subjects[indexes[0]!]!
      const bucket = this.#read(scope, day, id)
      for (const index of indexes) this.#addTo(bucket, index, detailsOf(index))
      const packed = packDetails(bucket.details, (source) => this.#sources.votesOf(day, source))
      this.#sql.exec(WRITE, scope, day, bucketOf(id), JSON.stringify(bucket.totals), packed)
    }
    this.#sources.fold()
    this.#memory = new Memory(this.#sources.votesOf)
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
    const isFilled = (object: object) => Object.keys(object).length > 0
    details[id] = {
      ...(isFilled(countries) && { countries }),
      ...(isFilled(sources) && { sources }),
      ...(curve && { curve }),
      ...(isFilled(refused) && { refused }),
    }
  }

  /** The row of a resource. */
  #read(scope: number, day: number, id: string): Bucket {
    const [row] = this.#sql.exec<{ totals: string; details: string }>(READ, scope, day, bucketOf(id)).toArray()
    const { totals, details } = row ?? { totals: '{}', details: '{}' }
    return { totals: JSON.parse(totals) as Bucket['totals'], details: JSON.parse(details) as Bucket['details'] }
  }

  /** Returns the sums of a resource: of its rows and of the memory. */
  stats({ scope, id, from, to, by }: StatsQuery): Stats {
    const at = STATS_SCOPES.indexOf(scope)
    const key = scope === 'organization' ? SELF : id
    const totals = noCounts()
    const rows: Labels = new Map()
    const refused: Record<string, number> = {}
    for (let day = from; day <= to; day++) {
      const bucket = this.#read(at, day, key)
      const index = this.#memory.find(at, day, key)
      const folded = bucket.totals[key]
      if (!folded && index === undefined) continue
      const counts = addCounts(noCounts(), folded ?? [])
      if (index !== undefined) addCounts(counts, this.#memory.totals(index))
      addCounts(totals, counts)
      const details = bucket.details[key]
      if (scope === 'organization') addReasons(refused, details?.refused, this.#memory.refused(day))
      if (by === 'day') rows.set(String(day), counts)
      else {
        addLabels(rows, Object.entries((by === 'country' ? details?.countries : details?.sources) ?? {}))
        if (index !== undefined) addLabels(rows, this.#memory.labels(index, by))
      }
    }
    return { totals, rows: [...rows], refused }
  }

  /** Yields the counts of resources by day: each day at once, so that a fold in between loses nothing. Between two days, others have their turn. */
  async *#days({ scope, from, to }: Days & { scope: StatsScope }, ids?: string[]) {
    const at = STATS_SCOPES.indexOf(scope)
    const wanted = ids && new Set(ids)
    const buckets = JSON.stringify(ids?.map(bucketOf) ?? Array.from({ length: BUCKETS }, (_, bucket) => bucket))
    const query = 'select totals from day where scope = ? and day = ? and bucket in (select value from json_each(?))'
    for (let day = from; day <= to; day++) {
      const counts: [string, Counts][] = []
      const add = (id: string, each: Counts) => {
        if (wanted?.has(id) ?? true) counts.push([id, each])
      }
      for (const { totals } of this.#sql.exec<{ totals: string }>(query, at, day, buckets))
        for (const [id, each] of Object.entries(JSON.parse(totals) as Bucket['totals'])) add(id, each)
      for (const [index, subject] of this.#memory.subjects.entries())
        if (subject.scope === at && subject.day === day) add(subject.id, this.#memory.totals(index))
      yield counts
      await scheduler.wait(0)
    }
  }

  /** Returns the resources with the most plays, and their plays. */
  async top({ limit, ...query }: TopQuery): Promise<[id: string, plays: number][]> {
    const plays = new Map<string, number>()
    for await (const day of this.#days(query))
      for (const [id, counts] of day) plays.set(id, (plays.get(id) ?? 0) + (counts[0] ?? 0))
    return [...plays].toSorted(([a, one], [b, two]) => two - one || (a < b ? -1 : 1)).slice(0, limit)
  }

  /** Returns the sums of several resources. */
  async counts({ ids, ...query }: CountsQuery): Promise<[id: string, counts: Counts][]> {
    const sums: Labels = new Map()
    for await (const day of this.#days(query, ids)) addLabels(sums, day)
    return [...sums]
  }

  /** Returns the curve of the recordings of a track that have this duration. */
  curve({ track, duration, from, to }: CurveQuery): Curve {
    const scope = STATS_SCOPES.indexOf('track')
    const sum = emptyCurve(duration)
    for (let day = from; day <= to; day++) {
      const packed = this.#read(scope, day, track).details[track]?.curve
      if (packed) addPacked(sum, duration, packed)
      const index = this.#memory.find(scope, day, track)
      if (index !== undefined && isSameRecording(this.#memory.subjects[index]!.duration, duration))
        this.#memory.addCurveTo(sum, index)
    }
    return sum
  }
}

import { STATS_DAYS, TRACK_DAYS } from '../../contract/facts.ts'
import { STATS_SCOPES, type StatsScope } from '../../contract/stats_scope.ts'
import { firstDayOf, monthOf } from '../../core/time.ts'
import { addCounts, type Counts, noCounts } from './counts.ts'
import { joinPacked, type PackedCurve } from './curve.ts'
import type { Sources } from './sources.ts'

/**
 * The rows of the sums (docs/decisions/0104, 0111). The resources of a day, or of a month, share rows. Days are in days since 1970, months in months since 1970,
 * in UTC.
 */

/** Maximum characters of the details in a row, of up to three bytes each. SQLite in Durable Objects allows 2 MB for a row (Durable Objects, Limits). */
const MAX_DETAILS = 600_000
/** Sources of a resource in a month. */
const MONTH_SOURCES = 20
/** Characters that `close` reads in one call, because a call has 30 seconds of CPU time (Durable Objects, Limits), and before it lets others have their turn. */
const MAX_CLOSED = 100_000_000
const TURN = 2_000_000

/** A table, and its column with the number of the day or the month. The totals come first: SQLite reads a long row only as far as a query needs. */
type Span = 'day' | 'month'
const SPANS = ['day', 'month'] as const
const tableOf = (
  span: Span,
) => `create table if not exists ${span} (scope integer, ${span} integer, bucket integer, totals text, details text,
  primary key (scope, ${span}, bucket)) without rowid`
/** The months whose days were all added to their rows. */
const CLOSED = 'create table if not exists closed (month integer primary key) without rowid'

/**
 * The resources of a day are in at most 4,096 rows. A row for each would be cheap for a thousand tracks, but not for a hundred thousand, of which most are heard
 * twice a day. Ids are random at their end.
 */
export const bucketOf = (id: string) => Number.parseInt(id.slice(-3) || '0', 16)

/** Everything of a resource on a day except the totals. */
export interface Details {
  countries?: Record<string, Counts>
  sources?: Record<string, Counts>
  curve?: PackedCurve
  /** The number of refused reports by reason. */
  refused?: Record<string, number>
}
/** The resources in a row, by id. */
export interface Bucket {
  totals: Record<string, Counts>
  details: Record<string, Details>
}
export type Labels = Map<string, Counts>

/** Days, both included. */
export interface Days {
  from: number
  to: number
}

/** Returns the first day for which a scope has days. Older ones are only known by month. */
export const firstKept = (scope: StatsScope, today: number): number =>
  firstDayOf(monthOf(today - (scope === 'track' ? TRACK_DAYS : STATS_DAYS)))

export function addLabels(sum: Labels, labels: Iterable<[string, Counts]>): Labels {
  for (const [text, counts] of labels) sum.set(text, addCounts(sum.get(text) ?? noCounts(), counts))
  return sum
}

/** Counts in rows have no zeros at their end. */
export const trim = (counts: Counts): Counts => counts.slice(0, counts.findLastIndex(Boolean) + 1)
export const packLabels = (labels: Iterable<[string, Counts]>): Record<string, Counts> =>
  Object.fromEntries([...labels].map(([text, counts]) => [text, trim(counts)]))

type VotesOf = (source: string) => number

/** Returns the sources with the most votes, and of those with equal votes the ones with the most visits. */
export const leading = (sources: [string, Counts][], most: number, votesOf: VotesOf): [string, Counts][] =>
  sources.toSorted(([one, [, a = 0]], [two, [, b = 0]]) => votesOf(two) - votesOf(one) || b - a).slice(0, most)

export function addReasons(sum: Record<string, number>, ...all: (Record<string, number> | undefined)[]) {
  for (const reasons of all)
    for (const [reason, reports] of Object.entries(reasons ?? {})) sum[reason] = (sum[reason] ?? 0) + reports
  return sum
}

/** Returns the details of a row as JSON. If they are too long, only the leading sources remain, and if necessary no curves. */
function packDetails(details: Bucket['details'], votesOf: VotesOf): string {
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

/** Returns what a resource has of details, without empty parts. */
export function filled({ countries = {}, sources = {}, curve, refused = {} }: Details): Details {
  const isFilled = (object: object) => Object.keys(object).length > 0
  return {
    ...(isFilled(countries) && { countries }),
    ...(isFilled(sources) && { sources }),
    ...(curve && { curve }),
    ...(isFilled(refused) && { refused }),
  }
}

/** Returns the sum of the rows of a month's days, in their order. */
function sumOf(days: Bucket[], votesOf: VotesOf): Bucket {
  const sum: Bucket = { totals: {}, details: {} }
  const ids = new Set(days.flatMap(({ totals, details }) => [...Object.keys(totals), ...Object.keys(details)]))
  for (const id of ids) {
    const totals = noCounts()
    const labels = { countries: new Map(), sources: new Map() } as Record<'countries' | 'sources', Labels>
    const refused: Record<string, number> = {}
    let curve: PackedCurve | undefined
    for (const day of days) {
      const details = day.details[id]
      addCounts(totals, day.totals[id] ?? [])
      for (const part of ['countries', 'sources'] as const)
        addLabels(labels[part], Object.entries(details?.[part] ?? {}))
      addReasons(refused, details?.refused)
      if (details?.curve) curve = joinPacked(curve, details.curve)
    }
    sum.totals[id] = trim(totals)
    sum.details[id] = filled({
      countries: packLabels(labels.countries),
      sources: packLabels(leading([...labels.sources], MONTH_SOURCES, votesOf)),
      ...(curve && { curve }),
      refused,
    })
  }
  return sum
}

export class Buckets {
  readonly #sql: SqlStorage
  readonly #sources: Sources

  constructor(sql: SqlStorage, sources: Sources) {
    this.#sql = sql
    this.#sources = sources
    for (const span of SPANS) sql.exec(tableOf(span))
    sql.exec(CLOSED)
  }

  /** Returns the row of a day or a month that has the resource. */
  read(span: Span, scope: number, at: number, bucket: number): Bucket {
    const query = `select totals, details from ${span} where scope = ? and ${span} = ? and bucket = ?`
    const [row] = this.#sql.exec<{ totals: string; details: string }>(query, scope, at, bucket).toArray()
    const { totals, details } = row ?? { totals: '{}', details: '{}' }
    return { totals: JSON.parse(totals) as Bucket['totals'], details: JSON.parse(details) as Bucket['details'] }
  }

  /** Writes a row. `votesOf`: the votes for the sources of its day or its month. */
  write(span: Span, scope: number, at: number, bucket: number, { totals, details }: Bucket, votesOf: VotesOf): void {
    const values = [scope, at, bucket, JSON.stringify(totals), packDetails(details, votesOf)]
    this.#sql.exec(`insert or replace into ${span} values (?, ?, ?, ?, ?)`, ...values)
  }

  /** Yields the totals in the rows of a day or a month, of all rows or of some. */
  *totals(span: Span, scope: number, at: number, buckets?: number[]): Generator<Bucket['totals']> {
    const some = buckets ? 'and bucket in (select value from json_each(?))' : ''
    const query = `select totals from ${span} where scope = ? and ${span} = ? ${some}`
    const values = [scope, at, ...(buckets ? [JSON.stringify(buckets)] : [])]
    for (const { totals } of this.#sql.exec<{ totals: string }>(query, ...values))
      yield JSON.parse(totals) as Bucket['totals']
  }

  /** The last month whose days were all added to its rows; -1 before the first one. */
  get #closed(): number {
    return this.#sql.exec<{ month: number | null }>('select max(month) as month from closed').one().month ?? -1
  }

  /** Returns the days and months that make up a range: months that have ended before `before` as months, all other days as days. */
  spans({ from, to }: Days, before = Infinity): [span: Span, at: number][] {
    const closed = this.#closed
    const spans: [Span, number][] = []
    for (let day = from; day <= to;) {
      const month = monthOf(day)
      const next = firstDayOf(month + 1)
      const isMonth = month <= closed && day === firstDayOf(month) && next <= Math.min(before, to + 1)
      spans.push(isMonth ? ['month', month] : ['day', day])
      day = isMonth ? next : day + 1
    }
    return spans
  }

  /** Whether a resource has been counted on any day. */
  has(scope: number, id: string): boolean {
    return SPANS.some((span) => {
      const query = `select min(${span}) as first, max(${span}) as last from ${span} where scope = ?`
      const { first, last } = this.#sql.exec<{ first: number | null; last: number | null }>(query, scope).one()
      for (let at = first ?? 0; at <= (last ?? -1); at++)
        if (this.read(span, scope, at, bucketOf(id)).totals[id]) return true
      return false
    })
  }

  /**
   * Deletes days that are too old, and adds the days of months that have ended to rows of months. A day changes no more once the next one has passed. Resolves
   * to true if there is more to do. It can be stopped at any time, because a row of a month is written at once. Days are deleted at the next call, so that
   * a query that has started before still finds them.
   */
  async close(today: number): Promise<boolean> {
    const yesterday = today - 1
    await this.#deleteDays(yesterday)
    for (;;) {
      const query = 'select min(day) as day from day where day >= ? and scope = ?'
      const { day } = this.#sql
        .exec<{ day: number | null }>(query, firstDayOf(this.#closed + 1), STATS_SCOPES.indexOf('organization'))
        .one()
      if (day === null || monthOf(day) >= monthOf(yesterday)) return false
      if (!(await this.#closeMonth(monthOf(day)))) return true
    }
  }

  /** The day on which the next month can be closed, in days since 1970; 0 if there are no days. */
  closesOn(today: number): number {
    const hasDays = this.#sql.exec('select 1 from day limit 1').toArray().length > 0
    return hasDays ? firstDayOf(monthOf(today - 1) + 1) + 1 : 0
  }

  async #deleteDays(yesterday: number): Promise<void> {
    const closed = firstDayOf(this.#closed + 1)
    this.#sources.forget(closed)
    for (const [at, scope] of STATS_SCOPES.entries()) {
      const until = Math.min(closed, firstKept(scope, yesterday))
      for (;;) {
        const query = 'select min(day) as day from day where scope = ?'
        const { day } = this.#sql.exec<{ day: number | null }>(query, at).one()
        if (day === null || day >= until) break
        this.#sql.exec('delete from day where scope = ? and day = ?', at, day)
        await scheduler.wait(0)
      }
    }
  }

  /** Writes the rows of a month that are missing. Resolves to true once it has all of them. */
  async #closeMonth(month: number): Promise<boolean> {
    const days = Array.from({ length: 31 }, (_, at) => firstDayOf(month) + at).filter((day) => monthOf(day) === month)
    const bucketsOf = (span: Span, scope: number, at: number) =>
      this.#sql
        .exec<{ bucket: number }>(`select bucket from ${span} where scope = ? and ${span} = ?`, scope, at)
        .toArray()
        .map(({ bucket }) => bucket)
    const votesOf = this.#sources.ofDays(days)
    let [length, turn] = [0, 0]
    for (const scope of STATS_SCOPES.keys()) {
      const buckets = new Set(days.flatMap((day) => bucketsOf('day', scope, day)))
      for (const bucket of bucketsOf('month', scope, month)) buckets.delete(bucket)
      for (const bucket of buckets) {
        if (length > MAX_CLOSED) return false
        const query = `select coalesce(sum(length(totals) + length(details)), 0) as length from day
          where scope = ? and day in (select value from json_each(?)) and bucket = ?`
        length += this.#sql.exec<{ length: number }>(query, scope, JSON.stringify(days), bucket).one().length
        const sum = sumOf(
          days.map((day) => this.read('day', scope, day, bucket)),
          votesOf,
        )
        this.write('month', scope, month, bucket, sum, votesOf)
        if (length < turn + TURN) continue
        turn = length
        await scheduler.wait(0)
      }
    }
    this.#sql.exec('insert or ignore into closed values (?)', month)
    return true
  }
}

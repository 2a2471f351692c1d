import { lengthOf, type Range, union, without } from '../contract/ranges.ts'
import { DAY } from '../contract/time.ts'
import type { Difference } from './difference.ts'
import { limited } from './ranges.ts'
import { isSameRecording } from './sums/curve.ts'

/** The progress of listeners. It is kept only for sessions that were created with `listener` (docs/counting.md#progress-of-a-listener). */

const TABLE = `create table if not exists progress (listener text, track text, duration real, ranges text, position real, at integer,
  primary key (listener, track)) without rowid`

/** Maximum number of ranges of a track. Above it, the ranges with the shortest gap between them become one. */
const MAX_RANGES = 200

type Row = Record<'track' | 'ranges', string> & Record<'duration' | 'position' | 'at', number>

export interface TrackProgress {
  track: string
  /** Seconds. */
  duration: number
  ranges: Range[]
  /** The end of the range that grew last, in seconds. */
  position: number
  /** Milliseconds since 1970. */
  at: number
}

/** Returns the end of the last changed range in the order of the track; a report does not say which range was heard last. */
function grownEnd({ before, after }: Difference): number | undefined {
  const endsOf = (ranges: Range[] = []) => ranges.map(([, until]) => until)
  const old = new Set(endsOf([...(before?.ranges ?? []), ...(before?.again ?? [])]))
  return endsOf([...after.again, ...after.ranges]).findLast((until) => !old.has(until))
}

export class Progress {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(TABLE)
  }

  /**
   * Adds what was heard since the report before, so that deleted progress stays deleted. A report that is repeated after a crash changes nothing
   * more.
   */
  add(listener: string, difference: Difference, at: number): void {
    const { track, duration, before, after } = difference
    const query = 'select * from progress where listener = ? and track = ?'
    const [row] = this.#sql.exec<Row>(query, listener, track).toArray()
    const old = row && isSameRecording(row.duration, duration) ? row : undefined
    const once = without(after.ranges, before?.ranges ?? [])
    const again = without(after.again, before?.again ?? [])
    const ranges = limited(union(JSON.parse(old?.ranges ?? '[]') as Range[], union(once, again)), MAX_RANGES)
    if (ranges.length === 0) return
    const position = grownEnd(difference) ?? old?.position ?? 0
    const values = [listener, track, duration, JSON.stringify(ranges), position, at]
    this.#sql.exec('insert or replace into progress values (?, ?, ?, ?, ?, ?)', ...values)
  }

  /** Returns the progress of a listener since a time, in milliseconds since 1970. */
  read(listener: string, since: number): TrackProgress[] {
    const rows = this.#sql.exec<Row>('select * from progress where listener = ? and at >= ?', listener, since).toArray()
    return rows.map((row) => {
      const { track, duration, position, at } = row
      return { track, duration, position, at, ranges: JSON.parse(row.ranges) as Range[] }
    })
  }

  /** The time of the oldest progress, in milliseconds since 1970; null if there is none. */
  get oldest(): number | null {
    return this.#sql.exec<{ at: number | null }>('select min(at) as at from progress').one().at
  }

  /** Deletes the progress that was last changed before a time. */
  end = (before: number): void => void this.#sql.exec('delete from progress where at < ?', before)

  /** Deletes the progress of a listener, and returns the number of tracks. */
  erase = (listener: string): number =>
    this.#sql.exec('delete from progress where listener = ? returning track', listener).toArray().length
}

/** Returns the time at which progress starts that has not ended, in milliseconds since 1970. */
export const progressSince = (progress_days: number, now: number) => now - progress_days * DAY

/** Adds up the progress that several objects have of the same tracks: the later one has the position. */
export function joinProgress(all: TrackProgress[]): TrackProgress[] {
  const joined = new Map<string, TrackProgress>()
  for (const each of all.toSorted((a, b) => a.at - b.at)) {
    const other = joined.get(each.track)
    const ranges =
      other && isSameRecording(other.duration, each.duration) ? union(other.ranges, each.ranges) : each.ranges
    joined.set(each.track, { ...each, ranges })
  }
  return [...joined.values()].toSorted((a, b) => b.at - a.at)
}

/** Share of a track of which the seconds were heard, from 0 to 1. */
export const shareOf = ({ ranges, duration }: TrackProgress) => Math.min(1, lengthOf(ranges) / duration)

import type { Range } from '../../contract/ranges.ts'
import type { ListeningCounts } from '../../contract/stats.ts'
import type { Difference, Listen } from '../difference.ts'

/** The columns of all sums. Seconds are whole tenths, so that sums are exact. */
export const COLUMNS = ['plays', 'visits', 'tenths', 'completions', 'downloads', 'muted', 'fast'] as const
/** One number for each of the columns. */
export type Counts = number[]

export const noCounts = (): Counts => COLUMNS.map(() => 0)

export function addCounts(sum: Counts, counts: Counts): Counts {
  for (const [column, count] of counts.entries()) sum[column]! += count
  return sum
}

/** Seconds of a track after which a listen is a play, and the share of it after which it is complete (docs/counting.md). */
const PLAY_SECONDS = 30
const COMPLETE = 0.9

const tenths = (seconds: number) => Math.round(seconds * 10)
const lengthOf = (ranges: Range[]) => ranges.reduce((sum, [from, until]) => sum + tenths(until) - tenths(from), 0)

/** Returns the counts of a listen, without its visit. */
function countsOf(listen: Listen, duration: number): Counts {
  const heard = lengthOf(listen.ranges)
  const isPlay = heard > 0 && heard >= tenths(Math.min(PLAY_SECONDS, duration / 2))
  const isComplete = heard > 0 && heard >= tenths(duration * COMPLETE)
  return [
    Number(isPlay),
    0,
    heard + lengthOf(listen.again),
    Number(isComplete),
    0,
    tenths(listen.muted),
    tenths(listen.fast),
  ]
}

/** Returns the counts that a report adds, without its visit. */
export function countsOfDifference({ before, after, duration }: Difference): Counts {
  const counts = countsOf(after, duration)
  if (before) for (const [column, count] of countsOf(before, duration).entries()) counts[column]! -= count
  return counts
}

/** Returns counts as the API has them. */
export const toResponse = ([
  plays = 0,
  visits = 0,
  tenths = 0,
  completions = 0,
  downloads = 0,
  muted = 0,
  fast = 0,
]: Counts): ListeningCounts => ({
  plays,
  visits,
  seconds: tenths / 10,
  completions,
  downloads,
  muted_seconds: muted / 10,
  fast_seconds: fast / 10,
})

import type { HeardReport } from '../../contract/heard.ts'
import type { Listen, Range, Refusal } from './difference.ts'
import { lengthOf, secondsOf } from './ranges.ts'

/**
 * The plausibility of listening reports: a report that describes something impossible is counted as refused. Times are in seconds unless stated
 * otherwise.
 */

/** The fastest rate at which a player plays. */
const MAX_RATE = 2
/** Tolerance for the rounding of ranges, for the length of a track, and for the clocks of the Worker and the page. */
const ROUNDING = 0.11
const LENGTH_TOLERANCE = 2
const CLOCK_TOLERANCE = 60
/** Seconds that may have been heard in addition, because a page reports a moment before or after its clock was read. */
const BUFFER = 10
/** Maximum number of listens of a visit. */
export const MAX_LISTENS = 1000

const isOrdered = (ranges: readonly (readonly number[])[], end: number) => {
  let last = 0
  for (const [from, until] of ranges as Range[]) {
    if (from < last || until < from || until > end) return false
    last = until
  }
  return true
}

const isInside = (inner: readonly Range[], outer: readonly Range[]) =>
  inner.every(([from, until]) => outer.some((range) => range[0] - ROUNDING <= from && until <= range[1] + ROUNDING))

/** Returns the ranges without empty ones, cut at the end of the track. */
const trimmed = (ranges: readonly (readonly number[])[], duration: number): Range[] =>
  (ranges as Range[])
    .map(([from, until]): Range => [from, Math.min(until, duration)])
    .filter(([from, until]) => until > from)

/** Returns the latest end of a range of a track. */
export const endOf = (duration: number) => duration * 1.01 + LENGTH_TOLERANCE

/** Returns a listen of a report; null if its ranges are impossible for a track of this length. */
export function toListen(reported: HeardReport['listens'][number], duration: number): Listen | null {
  const { ranges, again = [], muted = 0, fast = 0 } = reported
  const end = endOf(duration)
  if (!isOrdered(ranges, end) || !isOrdered(again, end)) return null
  const listen = { ranges: trimmed(ranges, duration), again: trimmed(again, duration), muted, fast }
  if (!isInside(listen.again, listen.ranges)) return null
  return fast > lengthOf(ranges as Range[]) + lengthOf(again as Range[]) + ROUNDING ? null : listen
}

/** The times of a visit that the object knows: its last report, and its start by the Worker's clock, in milliseconds since 1970. */
interface Known {
  age: number
  started_at: number
}

/**
 * Returns why the time of a report is impossible; null if it is possible. `heard` is the number of seconds of the visit. A page cannot be older than its
 * session, and nothing runs faster than `MAX_RATE`.
 */
export function refuseTime(
  { age }: HeardReport,
  heard: number,
  known: Known | undefined,
  session_created_at: number,
  now: number,
): Refusal | null {
  const oldest = (now - (known?.started_at ?? session_created_at)) / 1000 + CLOCK_TOLERANCE
  const isPossible = age <= oldest && age >= (known?.age ?? 0) && heard <= MAX_RATE * age + BUFFER
  return isPossible ? null : 'time'
}

/** Returns the number of seconds of audio of listens. */
export const totalOf = (listens: readonly Listen[]) => listens.reduce((sum, listen) => sum + secondsOf(listen), 0)

import type { HeardReport } from '../contract/heard.ts'
import { lengthOf, type Range, tenth, union } from '../contract/ranges.ts'
import type { Difference, Listen } from './difference.ts'
import { type Refusal, refuse } from './heard_call.ts'
import { secondsOf } from './ranges.ts'

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
const MAX_LISTENS = 1000

/** Milliseconds after its last report for which a visit stays open. */
export const OPEN_FOR = 30 * 60_000
/**
 * Age in seconds from which a report of an unknown visit is refused unless it is the first one: the visit may have been counted and closed. A minute less,
 * because the last report may have taken longer than this one.
 */
const LATE_AGE = OPEN_FOR / 1000 - 60

/** Returns what is wrong with the first range that is not ordered and disjoint, or that ends after the track; undefined if all are right. */
function faultOf(ranges: readonly (readonly number[])[], duration: number): string | undefined {
  const end = endOf(duration)
  let last = 0
  for (const [from, until] of ranges as Range[]) {
    if (until < from) return `ends at ${until}, before its start at ${from}`
    if (from < last) return `starts at ${from}, but the range before it ends at ${last}`
    if (until > end) return `ends at ${until}, but the track has ${tenth(duration)} seconds`
    last = until
  }
  return undefined
}

const isInside = ([from, until]: Range, outer: readonly Range[]) =>
  outer.some((range) => range[0] - ROUNDING <= from && until <= range[1] + ROUNDING)

/** Whether a listen of a report has seconds, heard or muted. */
export const hasSeconds = ({ ranges, muted = 0 }: HeardReport['listens'][number]) =>
  muted > 0 || ranges.some(([from, until]) => until! > from!)

/** Seconds that a report may lack that were reported before: players estimate their positions. They stay counted. */
const LACKING = 0.5

/**
 * Returns a listen with everything that was reported of it before, so that no sum becomes smaller; a refusal if it lacks too much of that. A file that
 * has become a little shorter meanwhile cuts the end of a listen.
 */
export function grown(listen: Listen, before: Listen, duration: number, at: number): Listen | Refusal {
  const all = {
    ranges: union(before.ranges, listen.ranges),
    again: union(before.again, listen.again),
    muted: Math.max(before.muted, listen.muted),
    fast: Math.max(before.fast, listen.fast),
  }
  const [ranges, again] = [trimmed(all.ranges, duration), trimmed(all.again, duration)]
  const lacking = secondsOf({ ...all, ranges, again }) - secondsOf(listen)
  return lacking > LACKING
    ? refuse('ranges', `listens.${at}`, `lacks ${tenth(lacking)} seconds that were reported before`)
    : all
}

/** Returns the ranges without empty ones, cut at the end of the track. */
const trimmed = (ranges: readonly (readonly number[])[], duration: number): Range[] =>
  (ranges as Range[])
    .map(([from, until]): Range => [from, Math.min(until, duration)])
    .filter(([from, until]) => until > from)

/** Returns the latest end of a range of a track. */
export const endOf = (duration: number) => duration * 1.01 + LENGTH_TOLERANCE

/** Returns a listen of a report; a refusal if its ranges are impossible for a track of this length. `at` is the index of the listen in the report. */
export function toListen(reported: HeardReport['listens'][number], duration: number, at: number): Listen | Refusal {
  const { ranges, again = [], muted = 0, fast = 0 } = reported
  const fault = faultOf(ranges, duration)
  if (fault) return refuse('ranges', `listens.${at}.ranges`, fault)
  const faultAgain = faultOf(again, duration)
  if (faultAgain) return refuse('ranges', `listens.${at}.again`, faultAgain)
  const listen = { ranges: trimmed(ranges, duration), again: trimmed(again, duration), muted, fast }
  const outside = listen.again.find((range) => !isInside(range, listen.ranges))
  if (outside)
    return refuse('ranges', `listens.${at}.again`, `has ${outside[0]} to ${outside[1]}, which is not in ranges`)
  const seconds = lengthOf(ranges as Range[]) + lengthOf(again as Range[])
  if (fast > seconds + ROUNDING)
    return refuse('ranges', `listens.${at}.fast`, `is ${fast}, but ranges and again have ${tenth(seconds)} seconds`)
  return listen
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
  const passed = (now - (known?.started_at ?? session_created_at)) / 1000
  const since = known ? 'visit started' : 'session was created'
  if (age > passed + CLOCK_TOLERANCE)
    return refuse('time', 'age', `is ${age} seconds, but the ${since} ${tenth(passed)} seconds ago`)
  if (known && age < known.age) return refuse('time', 'age', `went back from ${known.age} to ${age} seconds`)
  if (heard > MAX_RATE * age + BUFFER)
    return refuse('time', 'age', `is ${age} seconds, too few to play ${tenth(heard)} seconds at double speed`)
  return null
}

/** Returns the number of seconds of audio of listens. */
export const totalOf = (listens: readonly Listen[]) => listens.reduce((sum, listen) => sum + secondsOf(listen), 0)

/** Returns why a report belongs neither to its visit nor to a new one; null if it does. */
export function refuseVisit(
  report: HeardReport,
  session: { id: string },
  visit: { session: { id: string } } | undefined,
): Refusal | null {
  const { sequence, age, first } = report
  if (visit) return visit.session.id === session.id ? null : refuse('visit', 'visit', 'belongs to another session')
  if (sequence > 1 && age > LATE_AGE)
    return refuse('late', 'visit', `is no longer known, and cannot start again at an age of ${age} seconds`)
  return first > 0 ? refuse('late', 'first', `must be 0 in a new visit, not ${first}`) : null
}

/** Returns why a report does not continue the listens of its visit, of which `open` may still change; null if it does. */
export function refuseListens({ first, listens }: HeardReport, known: number, open: number): Refusal | null {
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

type Facts = Pick<Difference, 'collection' | 'duration'> & { id: string }

/** Whether a session plays a track. The tracks of a playlist are not known here. */
export const plays = ({ scope, id }: Difference['via'], track: Facts) =>
  scope === 'playlist' || id === (scope === 'track' ? track.id : track.collection)

/** Whether a session plays a track, and no range of a report ends after the track. */
export const fits = ({ listens }: HeardReport, via: Difference['via'], facts: Facts): boolean =>
  plays(via, facts) &&
  listens.every(
    ({ track, ranges }) => track !== facts.id || ranges.every(([, until]) => until! <= endOf(facts.duration)),
  )

import { lengthOf, type Range } from '../contract/ranges.ts'
import type { Listen } from './difference.ts'

/** Functions for ranges that only the service uses. */

/** Seconds of audio that ran in a listen, with sound or without. */
export const secondsOf = ({ ranges, again, muted }: Listen) => lengthOf(ranges) + lengthOf(again) + muted

/** Returns at most so many ranges. Those with the shortest gaps between them become one. */
export function limited(ranges: Range[], most: number): Range[] {
  if (ranges.length <= most) return ranges
  const gaps = ranges.slice(1).map(([from], at) => from - ranges[at]![1])
  const shortest = [...gaps.keys()].toSorted((a, b) => gaps[a]! - gaps[b]!).slice(0, ranges.length - most)
  const joined = new Set(shortest)
  return ranges.flatMap((range, at): Range[] => {
    if (joined.has(at - 1)) return []
    let last = at
    while (joined.has(last)) last++
    return [[range[0], ranges[last]![1]]]
  })
}

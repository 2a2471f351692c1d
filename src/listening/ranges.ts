import type { Listen, Range } from './difference.ts'

/** Functions for ordered, disjoint ranges of seconds. */

export const lengthOf = (ranges: readonly Range[]) => ranges.reduce((sum, [from, until]) => sum + until - from, 0)

/** Rounds seconds to tenths, as reports have them. */
export const tenth = (seconds: number) => Math.round(seconds * 10) / 10

/** Seconds of audio that ran in a listen, with sound or without. */
export const secondsOf = ({ ranges, again, muted }: Listen) => lengthOf(ranges) + lengthOf(again) + muted

/** Returns the union of two lists. */
export function union(a: readonly Range[], b: readonly Range[]): Range[] {
  const merged: Range[] = []
  for (const [from, until] of [...a, ...b].toSorted(([from], [other]) => from - other)) {
    const last = merged.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], until)
    else merged.push([from, until])
  }
  return merged
}

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

/** Returns the parts of `a` that are not in `b`. */
export const without = (a: readonly Range[], b: readonly Range[]): Range[] =>
  b.reduce<Range[]>(
    (rest, [from, until]) =>
      rest
        .flatMap(([start, end]): Range[] => [
          [start, Math.min(end, from)],
          [Math.max(start, until), end],
        ])
        .filter(([start, end]) => start < end),
    [...a],
  )

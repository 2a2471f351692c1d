/** Functions for ranges of a track's time in seconds, ordered and disjoint. The player and the service count with them. Imports nothing. */

export type Range = [from: number, until: number]
type Ranges = readonly Range[]

export const lengthOf = (ranges: Ranges) => ranges.reduce((sum, [from, until]) => sum + until - from, 0)

/** Rounds seconds to tenths, as reports have them. */
export const tenth = (seconds: number) => Math.round(seconds * 10) / 10

/** Returns the union of two lists, joined where they touch. */
export const union = (a: Ranges, b: Ranges): Range[] =>
  [...a, ...b]
    .toSorted(([from], [other]) => from - other)
    .reduce<Range[]>((joined, [from, until]) => {
      const last = joined.at(-1)
      if (last && last[1] >= from) last[1] = Math.max(last[1], until)
      else joined.push([from, until])
      return joined
    }, [])

/** Returns the parts of `a` that are not in `b`. */
export const without = (a: Ranges, b: Ranges): Range[] =>
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

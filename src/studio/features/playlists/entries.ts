import type { ListedTrack } from '../../../contract/track_list.ts'

export type FoundTrack = ListedTrack

/** A track in a playlist. The key says which of its occurrences it is: the service gives an entry a new id when all tracks are replaced. */
export interface Entry {
  key: string
  track: FoundTrack
}

/** Returns tracks as entries that follow others. */
export function entriesOf(tracks: readonly FoundTrack[], others: readonly Entry[] = []): Entry[] {
  const counts = new Map<string, number>()
  for (const { key, track } of others) {
    counts.set(track.id, Math.max(counts.get(track.id) ?? 0, Number(key.split('#')[1]) + 1))
  }
  return tracks.map((track) => {
    const occurrence = counts.get(track.id) ?? 0
    counts.set(track.id, occurrence + 1)
    return { key: `${track.id}#${occurrence}`, track }
  })
}

const keysOf = (entries: readonly Entry[]) => new Set(entries.map(({ key }) => key))
export const idsOf = (entries: readonly Entry[]): string[] => entries.map(({ track }) => track.id)

/** Returns entries with some of them moved before a place, in their order. */
export function movedTo(entries: readonly Entry[], keys: ReadonlySet<string>, place: number): Entry[] {
  const isMoved = ({ key }: Entry) => keys.has(key)
  const before = entries.slice(0, place).filter((entry) => !isMoved(entry))
  const after = entries.slice(place).filter((entry) => !isMoved(entry))
  return [...before, ...entries.filter(isMoved), ...after]
}

/** Returns entries with those of another list that are `wanted`, each after the entry that precedes it there. */
function woven(entries: readonly Entry[], other: readonly Entry[], wanted: (entry: Entry) => boolean): Entry[] {
  const result = [...entries]
  let place = 0
  for (const entry of other) {
    if (wanted(entry)) result.splice(place++, 0, entry)
    else {
      const at = result.findIndex(({ key }) => key === entry.key)
      if (at >= 0) place = at + 1
    }
  }
  return result
}

/**
 * Returns a list with the changes that two users made to the same list at the same time: the additions and removals of both, in the order of the second
 * user, unless the first has changed it. With the list after a change, the list before it and the current list, it undoes the change.
 */
export function merged(base: readonly Entry[], mine: readonly Entry[], theirs: readonly Entry[]): Entry[] {
  const [inBase, inMine, inTheirs] = [keysOf(base), keysOf(mine), keysOf(theirs)]
  const common = mine.filter(({ key }) => inBase.has(key))
  const isReordered = base.filter(({ key }) => inMine.has(key)).some(({ key }, at) => common[at]!.key !== key)
  if (!isReordered) {
    const kept = theirs.filter(({ key }) => inMine.has(key) || !inBase.has(key))
    return woven(kept, mine, ({ key }) => !inBase.has(key) && !inTheirs.has(key))
  }
  const kept = mine.filter(({ key }) => inTheirs.has(key) || !inBase.has(key))
  return woven(kept, theirs, ({ key }) => !inBase.has(key) && !inMine.has(key))
}

/** Returns where tracks were inserted, if nothing else has changed; null otherwise. */
export function insertionOf(
  before: readonly Entry[],
  after: readonly Entry[],
): { position: number; count: number } | null {
  const count = after.length - before.length
  if (count <= 0) return null
  const differs = before.findIndex(({ key }, at) => after[at]!.key !== key)
  const position = differs < 0 ? before.length : differs
  return before.slice(position).every(({ key }, at) => after[position + count + at]!.key === key)
    ? { position, count }
    : null
}

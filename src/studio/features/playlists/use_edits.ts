import { useEffect, useState } from 'preact/hooks'

import { t, tn } from '../../base/text.ts'
import { nameOf } from '../../data/track_text.ts'
import { type FoundTrack, movedTo } from './entries.ts'
import type { PlaylistEntries } from './use_entries.ts'

/** The selected entries of a playlist, and the functions that move, remove and add entries with a message. */
export function useEdits({ entries, change, add }: PlaylistEntries) {
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  // Entries that were removed are no longer selected.
  useEffect(() => {
    const keys = new Set(entries.map(({ key }) => key))
    if ([...picked].some((key) => !keys.has(key))) setPicked(new Set([...picked].filter((key) => keys.has(key))))
  }, [entries])

  function move(keys: ReadonlySet<string>, place: number) {
    const after = movedTo(entries, keys, place)
    if (after.every(({ key }, at) => entries[at]!.key === key)) return
    const n = after.findIndex(({ key }) => keys.has(key)) + 1
    change(
      after,
      keys.size === 1
        ? t('Moved to place {n} of {count}', { n, count: entries.length })
        : tn({ one: '{n} track moved', other: '{n} tracks moved' }, keys.size),
    )
  }
  function remove(keys: ReadonlySet<string>) {
    const first = entries.find(({ key }) => keys.has(key))
    change(
      entries.filter(({ key }) => !keys.has(key)),
      first && keys.size === 1
        ? t('“{name}” removed', { name: nameOf(first.track) })
        : tn({ one: '{n} track removed', other: '{n} tracks removed' }, keys.size),
    )
  }
  return {
    picked,
    setPicked,
    /** Returns the keys that an action on a row changes: those of the selected entries, if the row is one of them. */
    keysAt: (at: number): ReadonlySet<string> => {
      const { key } = entries[at]!
      return picked.has(key) ? picked : new Set([key])
    },
    move,
    remove,
    /** Adds tracks before a place; by default at the end. */
    add: (tracks: readonly FoundTrack[], place?: number) =>
      add(
        tracks,
        tracks.length === 1
          ? t('“{name}” added', { name: nameOf(tracks[0]!) })
          : tn({ one: '{n} track added', other: '{n} tracks added' }, tracks.length),
        place,
      ),
  }
}
export type Edits = ReturnType<typeof useEdits>

import { useEffect, useRef, useState } from 'preact/hooks'

import { MAX_FILTERED_OFFSET, MAX_PAGE } from '../../../contract/facts.ts'
import { explain } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { toRow, type TrackList, type TrackRow, usePageOf } from '../../data/track_rows.ts'
import { announce } from '../../ui/page/announce.ts'
import { isSelected, nothing, sizeOf, withoutRows, withRows } from './selection.ts'

/** The number of tracks that can be selected. */
export const MOST = MAX_FILTERED_OFFSET

/** The selection of a table of tracks. Rows that the table has not read are read when they are needed. */
export function useSelection(list: TrackList, rows: readonly (TrackRow | undefined)[]) {
  const [selection, setSelection] = useState(nothing<TrackRow>)
  const readPage = usePageOf(list, null)
  const anchor = useRef(0)
  // Another filter shows other rows, so a selection of all rows would mean others.
  const key = JSON.stringify(list)
  useEffect(() => setSelection(nothing()), [key])

  /** Reads the tracks between two places of the list, at most `MOST`. */
  async function readBetween(
    from: number,
    to: number,
    signal = new AbortController().signal,
  ): Promise<TrackRow[] | null> {
    const known = rows.slice(from, to)
    if (known.length === to - from && known.every((row) => row !== undefined)) return known
    const found: TrackRow[] = []
    for (let offset = from; offset < Math.min(to, MOST); offset += MAX_PAGE) {
      const page = await readPage({ offset, limit: Math.min(MAX_PAGE, to - offset), signal })
      if (!page.ok) {
        announce(explain(page))
        return null
      }
      found.push(...page.entries.map(toRow))
      if (page.entries.length === 0) break
    }
    return found
  }
  const pick = (row: TrackRow, at: number, wanted = !isSelected(selection, row.id)) => {
    anchor.current = at
    setSelection(withRows(selection, [row], wanted))
  }
  /** Selects the rows from the last one that was selected, or from `from`. */
  async function extend(at: number, from = anchor.current) {
    const found = await readBetween(Math.min(at, from), Math.max(at, from) + 1)
    if (found) setSelection((before) => withRows(before, found, true))
  }
  function pickAll() {
    if (rows.length > MOST) announce(t('The first {n} tracks are selected.', { n: MOST }))
    setSelection({ isAll: true, rows: new Map() })
  }
  /** Returns the selected tracks in the order of the list, after reading those that are missing. */
  async function readSelected(): Promise<TrackRow[] | null> {
    if (selection.isAll) {
      const all = await readBetween(0, rows.length)
      return all && all.filter(({ id }) => isSelected(selection, id))
    }
    const places = new Map(rows.map((row, at) => [row?.id, at]))
    const placeOf = ({ id }: TrackRow) => places.get(id) ?? Infinity
    return [...selection.rows.values()].toSorted((a, b) => placeOf(a) - placeOf(b) || 0)
  }
  return {
    selection,
    size: sizeOf(selection, Math.min(rows.length, MOST)),
    pick,
    extend,
    pickAll,
    clear: () => setSelection(nothing()),
    without: (ids: ReadonlySet<string>) => setSelection((before) => withoutRows(before, ids)),
    readSelected,
  }
}
export type TableSelection = ReturnType<typeof useSelection>

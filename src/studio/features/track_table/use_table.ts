import { useRef, useState } from 'preact/hooks'

import { go } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { useConnection } from '../../data/connection.ts'
import { playTrack } from '../../data/now_playing.ts'
import type { TrackList, TrackRow, TrackRows } from '../../data/track_rows.ts'
import { nameOf } from '../../data/track_text.ts'
import { isPlayable } from '../../data/views.ts'
import { openMenu } from '../../ui/controls/menu.tsx'
import { useReorder } from '../../ui/lists/reorder.ts'
import { useMoveInOrder } from './move_in_order.ts'
import { useRowMenu } from './row_menu.tsx'
import { useRowFocus } from './table_focus.ts'
import type { RowActions } from './table_row.tsx'
import { isInOrder } from './table_view.ts'
import { usePress } from './use_press.ts'
import { useSelection } from './use_selection.ts'

/** The state of a table of tracks: its selection, its focus, and the actions of its rows. */
export function useTable(list: TrackList, tracks: TrackRows, height: number) {
  const { client } = useConnection()
  const { rows } = tracks
  const body = useRef<HTMLDivElement>(null)
  const selecting = useSelection(list, rows)
  const { handle, lookOf, moveTo, dragged } = useReorder(body, rows.length, useMoveInOrder(list, tracks), height)
  const menu = useRowMenu({ list, tracks, moveTo })
  const play = (row: TrackRow, start?: number) => {
    if (isPlayable(row)) void playTrack(client, 'collection', row.collection_id, row.id, start)
  }
  const actions = useStable<RowActions>({
    play,
    pick: (row, at, event) => (event.shiftKey ? void selecting.extend(at) : selecting.pick(row, at)),
    menuOf: menu.itemsOf,
    retry: menu.reprocess,
    replace: menu.replace,
  })

  /** Handles a key of the row with the focus, and returns whether it did. On the page, outside of the table, only some keys work. */
  function onKey(key: string, at: number, event: KeyboardEvent): boolean {
    const row = rows[at]
    const isCommand = event.ctrlKey || event.metaKey
    const isOnRow = (event.target as Element).closest('[data-at]') !== null
    if (isCommand && key === 'a') selecting.pickAll()
    else if (key === 'Escape' && selecting.size > 0) selecting.clear()
    else if (isCommand || !row) return false
    else if (event.altKey) return moveByKey(key, at)
    else if (key === 'x') selecting.pick(row, at)
    else if (!isOnRow) return false
    else if (key === 'Delete' && selecting.size === 0 && !event.repeat) {
      menu.remove(row)
      focus.focusRow(Math.max(0, Math.min(at, rows.length - 2)))
    } else if (key === 'Enter') go('track', row.id)
    else if (key === ' ') play(row)
    else if (key === 'm' || key === 'ContextMenu' || (key === 'F10' && event.shiftKey))
      openMenu(event.target as HTMLElement, t('More for {name}', { name: nameOf(row) }), menu.itemsOf(row, at))
    else return false
    return true
  }
  function moveByKey(key: string, at: number): boolean {
    const by = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
    if (by === 0 || !isInOrder(list)) return false
    if (at + by < 0 || at + by >= rows.length) return true
    moveTo(at, at + by)
    focus.focusRow(at + by)
    return true
  }
  const focus = useRowFocus({
    body,
    count: rows.length,
    height,
    onKey,
    onExtend: (from, to) => void selecting.extend(to, from),
  })
  const press = usePress({
    isSelecting: selecting.size > 0,
    onPick(at) {
      const row = rows[at]
      if (row) selecting.pick(row, at)
    },
    onExtend: (at) => void selecting.extend(at),
  })
  return { body, press, selecting, handle, lookOf, dragged, menu, actions, focus }
}
export type Table = ReturnType<typeof useTable>

/** Returns an object that never changes, whose functions call those of the last render. */
function useStable<T extends { [K in keyof T]: (...args: never[]) => unknown }>(functions: T): T {
  const latest = useRef(functions)
  latest.current = functions
  const [stable] = useState(
    () =>
      Object.fromEntries(
        Object.keys(functions).map((name) => [name, (...args: never[]) => latest.current[name as keyof T](...args)]),
      ) as T,
  )
  return stable
}

import type { RefObject } from 'preact'

import { t } from '../../base/text.ts'
import { type Drag, dragLook, placeAt, useDrag } from '../../ui/lists/use_drag.ts'
import type { FoundTrack } from './entries.ts'

/** The dragged entry of the playlist, or the dragged tracks of the search. The label is shown next to the pointer. */
type Source = { label: string } & ({ at: number } | { tracks: readonly FoundTrack[] })

interface Target {
  /** The place before which it is dropped; null if the pointer is not over the playlist. */
  place: number | null
  /** Whether the pointer is over the search. */
  isOut: boolean
}

export type PaneDrag = Drag<Source, Target>

interface Properties {
  /** The rows of the playlist, and the panes. */
  body: RefObject<HTMLElement | null>
  playlist: RefObject<HTMLElement | null>
  finder: RefObject<HTMLElement | null>
  count: number
  height: number
  onMove: (at: number, place: number) => void
  onAdd: (tracks: readonly FoundTrack[], place: number) => void
  onRemove: (at: number) => void
}

const isOver = (element: HTMLElement | null, { clientX: x, clientY: y }: PointerEvent) => {
  const box = element?.getBoundingClientRect()
  return box !== undefined && x >= box.left && x <= box.right && y >= box.top && y <= box.bottom
}

/** Drags entries within the playlist and out of it, and tracks from the search into it. */
export function usePaneDrag({ body, playlist, finder, count, height, onMove, onAdd, onRemove }: Properties) {
  function findTarget(event: PointerEvent): Target {
    if (isOver(finder.current, event)) return { place: null, isOut: true }
    if (!isOver(playlist.current, event)) return { place: null, isOut: false }
    return { place: placeAt(event, body.current, height, count), isOut: false }
  }
  function drop(source: Source, { place, isOut }: Target) {
    if ('at' in source) {
      if (place !== null) onMove(source.at, place)
      else if (isOut) onRemove(source.at)
    } else if (place !== null) onAdd(source.tracks, place)
  }
  const { drag, handlersOf } = useDrag(findTarget, drop)
  /** Returns the attributes of the handle of an entry. The row has keys for moving it. */
  const handle = (at: number, label: string) => ({
    'aria-label': t('Move {name}: drag, or press Alt and an arrow key', { name: label }),
    'data-handle': at,
    ...handlersOf({ at, label }),
    onKeyDown: () => {},
  })
  const lookOf = (at: number) =>
    drag ? dragLook(at, count, drag.target.place, 'at' in drag.source && drag.source.at === at) : ''
  return { drag, handle, handlersOf, lookOf }
}
export type PaneDragging = ReturnType<typeof usePaneDrag>

import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { t } from '../../base/text.ts'
import { announce } from '../page/announce.ts'
import { dragLook, placeAt, useDrag } from './use_drag.ts'

/** The attributes of a row's handle. */
export interface Handle {
  'aria-label': string
  'data-handle': number
  onPointerDown: (event: PointerEvent) => void
  onPointerMove: (event: PointerEvent) => void
  onPointerUp: (event: PointerEvent) => void
  onPointerCancel: () => void
  onKeyDown: (event: KeyboardEvent) => void
}

/**
 * Lets the user move the rows of a list: drag them by their handle, or press the arrow keys while the handle has the focus. Rows do not move during a
 * drag; a line shows the new place. All rows have the same height, in pixels, and the list may contain only some.
 */
export function useReorder(
  list: RefObject<HTMLElement | null>,
  count: number,
  onMove: (from: number, to: number) => void,
  rowHeight: number,
) {
  const focused = useRef<number | null>(null)
  // The handlers of a row that is not rendered again see the current state.
  const latest = useRef({ count, onMove })
  Object.assign(latest.current, { count, onMove })
  const { drag, handlersOf } = useDrag<number, number>(
    (event) => placeAt(event, list.current, rowHeight, latest.current.count),
    (from, place) => moveTo(from, place > from ? place - 1 : place),
  )

  // A row that was moved with a key keeps the focus, although its element may have moved.
  useEffect(() => {
    const at = focused.current
    focused.current = null
    if (at !== null) list.current?.querySelector<HTMLElement>(`[data-handle="${at}"]`)?.focus()
  })

  function moveTo(from: number, to: number) {
    const { count, onMove } = latest.current
    if (from === to || to < 0 || to >= count) return
    onMove(from, to)
    announce(t('Moved to place {n} of {count}', { n: to + 1, count }))
  }
  const handle = (index: number, name: string): Handle => ({
    'aria-label': t('Move {name}: drag, or use the arrow keys', { name }),
    'data-handle': index,
    ...handlersOf(index),
    onKeyDown(event) {
      const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0
      if (step === 0) return
      event.preventDefault()
      if (index + step < 0 || index + step >= latest.current.count) return
      focused.current = index + step
      moveTo(index, index + step)
    },
  })
  const lookOf = (index: number) => {
    if (!drag) return ''
    const { source, target } = drag
    const isMoved = target !== source && target !== source + 1
    return dragLook(index, count, isMoved ? target : null, index === source)
  }
  return { handle, lookOf, moveTo, dragged: drag?.source }
}

/** Returns the list with one entry moved. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = list.filter((_, i) => i !== from)
  return [...rest.slice(0, to), list[from]!, ...rest.slice(to)]
}

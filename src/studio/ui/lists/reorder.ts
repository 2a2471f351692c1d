import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

import { t } from '../../texts/text.ts'
import { announce } from '../page/announce.ts'

interface Drag {
  from: number
  /** The index of the row before which the dragged row is inserted. */
  to: number
}

/** The distance in pixels to the edge of the window at which a drag scrolls, and the pixels per step. */
const EDGE = 80
const STEP = 14

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
 * Lets the user move the rows of a list: drag them by their handle with the mouse or a finger, or press the arrow keys while the handle has the
 * focus. Rows do not move during a drag; a line shows the new place. All rows have the same height, in pixels, and the list may contain only some.
 */
export function useReorder(
  list: RefObject<HTMLElement | null>,
  count: number,
  onMove: (from: number, to: number) => void,
  rowHeight: number,
) {
  const [drag, setDrag] = useState<Drag | null>(null)
  const focused = useRef<number | null>(null)
  // The handlers of a row that is not rendered again see the current state.
  const latest = useRef({ drag, count, onMove })
  Object.assign(latest.current, { count, onMove })
  const show = (next: Drag | null) => setDrag((latest.current.drag = next))

  // A row that was moved with a key keeps the focus, although its element may have moved.
  useEffect(() => {
    const at = focused.current
    focused.current = null
    if (at !== null) list.current?.querySelector<HTMLElement>(`[data-handle="${at}"]`)?.focus()
  })

  function gapAt(y: number): number {
    const gap = Math.round((y - (list.current?.getBoundingClientRect().top ?? 0)) / rowHeight)
    return Math.min(Math.max(0, gap), latest.current.count)
  }
  function moveTo(from: number, to: number) {
    const { count, onMove } = latest.current
    if (from === to || to < 0 || to >= count) return
    onMove(from, to)
    announce(t('Moved to place {n} of {count}', { n: to + 1, count }))
  }
  const handle = (index: number, name: string): Handle => ({
    'aria-label': t('Move {name}: drag, or use the arrow keys', { name }),
    'data-handle': index,
    onPointerDown(event) {
      if (event.button !== 0) return
      ;(event.currentTarget as Element).setPointerCapture(event.pointerId)
      show({ from: index, to: index })
    },
    onPointerMove(event) {
      if (latest.current.drag?.from !== index) return
      if (event.clientY < EDGE) scrollBy(0, -STEP)
      else if (event.clientY > innerHeight - EDGE) scrollBy(0, STEP)
      show({ from: index, to: gapAt(event.clientY) })
    },
    onPointerUp() {
      const { drag } = latest.current
      if (drag?.from !== index) return
      show(null)
      moveTo(index, drag.to > index ? drag.to - 1 : drag.to)
    },
    onPointerCancel: () => show(null),
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
    const gap = drag.to === drag.from || drag.to === drag.from + 1 ? null : drag.to
    const line = gap === index ? 'drop-before' : gap === count && index === count - 1 ? 'drop-after' : ''
    return [line, index === drag.from && 'dragging'].filter(Boolean).join(' ')
  }
  return { handle, lookOf, moveTo, dragged: drag?.from }
}

/** Returns the list with one entry moved. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = list.filter((_, i) => i !== from)
  return [...rest.slice(0, to), list[from]!, ...rest.slice(to)]
}

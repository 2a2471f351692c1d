import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

import { announce } from './announce.ts'

interface Drag {
  from: number
  /** The row is put before the one that stands here now. */
  to: number
}

/** Pixels from the window's edge from which on dragging scrolls, and how far at once. */
const EDGE = 80
const STEP = 14

/** What a row's handle needs, and how its row looks meanwhile. */
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
 * Lets the rows of a list be moved: dragged by their handle with mouse or finger, or with the arrow keys while the handle has the focus.
 * Nothing moves while dragging; a line shows where the row will go.
 */
export function useReorder(
  list: RefObject<HTMLElement | null>,
  count: number,
  onMove: (from: number, to: number) => void,
) {
  const [drag, setDrag] = useState<Drag | null>(null)
  const focused = useRef<number | null>(null)

  // A row that was moved by a key keeps the focus, though its element may have been moved too.
  useEffect(() => {
    const at = focused.current
    focused.current = null
    if (at !== null) list.current?.querySelector<HTMLElement>(`[data-handle="${at}"]`)?.focus()
  })

  function gapAt(y: number): number {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])]
    const found = rows.findIndex((row) => {
      const { top, height } = row.getBoundingClientRect()
      return y < top + height / 2
    })
    return found < 0 ? rows.length : found
  }
  function moveTo(from: number, to: number) {
    if (from === to || to < 0 || to >= count) return
    onMove(from, to)
    announce(`Moved to place ${to + 1} of ${count}`)
  }
  const handle = (index: number, name: string): Handle => ({
    'aria-label': `Move ${name}: drag, or use the arrow keys`,
    'data-handle': index,
    onPointerDown(event) {
      if (event.button !== 0) return
      ;(event.currentTarget as Element).setPointerCapture(event.pointerId)
      setDrag({ from: index, to: index })
    },
    onPointerMove(event) {
      if (drag?.from !== index) return
      if (event.clientY < EDGE) scrollBy(0, -STEP)
      else if (event.clientY > innerHeight - EDGE) scrollBy(0, STEP)
      setDrag({ from: index, to: gapAt(event.clientY) })
    },
    onPointerUp() {
      if (drag?.from !== index) return
      setDrag(null)
      moveTo(index, drag.to > index ? drag.to - 1 : drag.to)
    },
    onPointerCancel: () => setDrag(null),
    onKeyDown(event) {
      const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0
      if (step === 0) return
      event.preventDefault()
      if (index + step < 0 || index + step >= count) return
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
  return { handle, lookOf, moveTo }
}

/** The list with one entry at another place. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = list.filter((_, i) => i !== from)
  return [...rest.slice(0, to), list[from]!, ...rest.slice(to)]
}

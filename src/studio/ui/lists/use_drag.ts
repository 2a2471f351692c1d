import { useEffect, useRef, useState } from 'preact/hooks'

/** Pixels that the pointer moves before a drag starts, and the distance to the edge of the window at which it scrolls, with the pixels per step. */
const SLACK = 5
const EDGE = 80
const STEP = 14

export interface Drag<Source, Target> {
  source: Source
  /** The place of a drop. */
  target: Target
  /** The place of the pointer in the window. */
  x: number
  y: number
}

/**
 * Lets the user drag something with the mouse, or with a finger by its handle. Near the edge of the window, the page scrolls. Escape cancels. Every
 * drag in the studio, except for files, is one of these.
 */
export function useDrag<Source, Target>(
  findTarget: (event: PointerEvent) => Target,
  onDrop: (source: Source, target: Target) => void,
) {
  const [drag, setDrag] = useState<Drag<Source, Target> | null>(null)
  // The handlers of a row that is not rendered again see the current state.
  const latest = useRef({ drag, findTarget, onDrop })
  Object.assign(latest.current, { findTarget, onDrop })
  const start = useRef<{ x: number; y: number; element: EventTarget | null } | null>(null)
  const show = (next: typeof drag) => setDrag((latest.current.drag = next))
  const end = () => {
    start.current = null
    show(null)
  }
  const isDragging = drag !== null
  useEffect(() => {
    if (!isDragging) return undefined
    const cancel = (event: KeyboardEvent) => event.key === 'Escape' && end()
    addEventListener('keydown', cancel)
    return () => removeEventListener('keydown', cancel)
  }, [isDragging])

  /** Returns the handlers of an element that drags `source`. */
  const handlersOf = (source: Source) => ({
    onPointerDown(event: PointerEvent) {
      const { button, clientX: x, clientY: y, currentTarget: element } = event
      const control = (event.target as Element).closest('button, a')
      // A finger scrolls the list; the buttons in a row have their own actions.
      if (button !== 0 || (control && control !== element) || (!control && event.pointerType === 'touch')) return
      start.current = { x, y, element }
      ;(element as Element).setPointerCapture(event.pointerId)
    },
    onPointerMove(event: PointerEvent) {
      const { clientX: x, clientY: y, currentTarget: element } = event
      const from = start.current
      if (!from || from.element !== element) return
      if (!latest.current.drag && Math.hypot(x - from.x, y - from.y) < SLACK) return
      if (y < EDGE) scrollBy(0, -STEP)
      else if (y > innerHeight - EDGE) scrollBy(0, STEP)
      show({ source, x, y, target: latest.current.findTarget(event) })
    },
    onPointerUp() {
      const { drag, onDrop } = latest.current
      end()
      if (drag) onDrop(drag.source, drag.target)
    },
    onPointerCancel: end,
  })
  return { drag, handlersOf }
}

/** Returns the place in a list at the height of a pointer: the index of the row before which a drop inserts. All rows have one height in pixels. */
export function placeAt({ clientY }: PointerEvent, list: HTMLElement | null, rowHeight: number, count: number): number {
  const place = Math.round((clientY - (list?.getBoundingClientRect().top ?? 0)) / rowHeight)
  return Math.min(Math.max(0, place), count)
}

/** Returns the class of a row during a drag, which shows the place of a drop as a line. */
export function dragLook(index: number, count: number, place: number | null, isSource: boolean): string {
  const line = place === index ? 'drop-before' : place === count && index === count - 1 ? 'drop-after' : ''
  return [line, isSource && 'dragging'].filter(Boolean).join(' ')
}

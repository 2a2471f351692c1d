import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

import { t } from '../../texts/text.ts'
import type { FoundTrack } from './entries.ts'

/** Pixels that the pointer moves before a drag starts, and the distance to the edge of the window at which it scrolls, with the pixels per step. */
const SLACK = 5
const EDGE = 80
const STEP = 14

/** The dragged entry of the playlist, or the dragged tracks of the search. */
type Source = { at: number } | { tracks: readonly FoundTrack[] }

export interface Drag {
  source: Source
  label: string
  x: number
  y: number
  /** The place before which it is dropped; null if the pointer is not over the playlist. */
  place: number | null
  /** Whether the pointer is over the search. */
  isOut: boolean
}

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

/** Returns where a drag would be dropped. */
function targetOf(event: PointerEvent, { body, playlist, finder, count, height }: Properties) {
  if (isOver(finder.current, event)) return { place: null, isOut: true }
  if (!isOver(playlist.current, event)) return { place: null, isOut: false }
  const top = body.current?.getBoundingClientRect().top ?? 0
  const place = Math.round((event.clientY - top) / height)
  return { place: Math.min(Math.max(0, place), count), isOut: false }
}

function drop({ source, place, isOut }: Drag, { onMove, onAdd, onRemove }: Properties): void {
  if ('at' in source) {
    if (place !== null) onMove(source.at, place)
    else if (isOut) onRemove(source.at)
  } else if (place !== null) onAdd(source.tracks, place)
}

/** Drags entries within the playlist and out of it, and tracks from the search into it. Escape cancels. */
export function useDrag(properties: Properties) {
  const [drag, setDrag] = useState<Drag | null>(null)
  const latest = useRef({ drag, properties })
  latest.current.properties = properties
  const start = useRef<{ x: number; y: number; element: EventTarget | null } | null>(null)
  const show = (next: Drag | null) => setDrag((latest.current.drag = next))
  const isDragging = drag !== null
  useEffect(() => {
    if (!isDragging) return undefined
    const cancel = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      start.current = null
      show(null)
    }
    addEventListener('keydown', cancel)
    return () => removeEventListener('keydown', cancel)
  }, [isDragging])

  /** Returns the handlers of an element that is dragged. */
  function handlersOf(source: Source, label: string) {
    const end = () => {
      start.current = null
      show(null)
    }
    return {
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
        show({ source, label, x, y, ...targetOf(event, latest.current.properties) })
      },
      onPointerUp() {
        const { drag, properties } = latest.current
        end()
        if (drag) drop(drag, properties)
      },
      onPointerCancel: end,
    }
  }
  /** Returns the attributes of the handle of an entry. The row has keys for moving it. */
  const handle = (at: number, name: string) => ({
    'aria-label': t('Move {name}: drag, or press Alt and an arrow key', { name }),
    'data-handle': at,
    ...handlersOf({ at }, name),
    onKeyDown: () => {},
  })
  /** Returns the class of a row during a drag. */
  function lookOf(at: number): string {
    if (!drag) return ''
    const { source, place } = drag
    const isSource = 'at' in source && source.at === at
    const { count } = latest.current.properties
    const line = place === at ? 'drop-before' : place === count && at === count - 1 ? 'drop-after' : ''
    return [line, isSource && 'dragging'].filter(Boolean).join(' ')
  }
  return { drag, handle, handlersOf, lookOf }
}
export type PaneDrag = ReturnType<typeof useDrag>

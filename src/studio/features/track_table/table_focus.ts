import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

import { FIELDS } from '../../ui/controls/fields.ts'

/** The rows of a page that the keys Page Up and Page Down skip. */
const PAGE_ROWS = 10
/** Pixels that the bar at the top and the player at the bottom of the window may cover. */
const BAR = 72
const DOCK = 120

interface Properties {
  body: RefObject<HTMLElement | null>
  count: number
  height: number
  /** Handles the other keys of a row, and returns whether it did. */
  onKey: (key: string, at: number, event: KeyboardEvent) => boolean
  /** Called when the focus moves with the Shift key. */
  onExtend: (from: number, to: number) => void
}

/** Returns the row to which a key moves the focus; undefined if it does not move it. */
export function rowAfter(key: string, at: number, count: number): number | undefined {
  const targets: Record<string, number> = {
    ArrowDown: at + 1,
    j: at + 1,
    ArrowUp: at - 1,
    k: at - 1,
    PageDown: at + PAGE_ROWS,
    PageUp: at - PAGE_ROWS,
    Home: 0,
    End: count - 1,
  }
  const target = targets[key]
  return target === undefined ? undefined : Math.min(Math.max(0, target), count - 1)
}

/**
 * Gives a table one Tab stop, the active row. Arrows, J and K move it. The keys J, K and X also work outside of the table.
 */
export function useRowFocus({ body, count, height, onKey, onExtend }: Properties) {
  // An object, so that the row is rendered and focused again even if it is already the active one.
  const [{ at: active }, setActive] = useState({ at: 0 })
  const wanted = useRef<number | null>(null)
  const latest = useRef({ active, count, onKey, onExtend })
  latest.current = { active: Math.min(active, Math.max(0, count - 1)), count, onKey, onExtend }

  useLayoutEffect(() => {
    const at = wanted.current
    wanted.current = null
    if (at !== null) body.current?.querySelector<HTMLElement>(`[data-at="${at}"]`)?.focus({ preventScroll: true })
  })

  function focusRow(at: number) {
    wanted.current = at
    setActive({ at })
    const top = (body.current?.getBoundingClientRect().top ?? 0) + at * height
    if (top < BAR) scrollBy(0, top - BAR)
    else if (top + height > innerHeight - DOCK) scrollBy(0, top + height - innerHeight + DOCK)
  }
  /** Returns the active row if it is visible, or else the first visible row. The first key press on the page focuses it. */
  function firstVisible(at: number): number {
    const top = body.current?.getBoundingClientRect().top ?? 0
    const y = top + at * height
    return y >= BAR && y < innerHeight - DOCK ? at : Math.max(0, Math.ceil((BAR - top) / height))
  }
  function press(event: KeyboardEvent, isInRow: boolean): void {
    const { active: at, count, onKey, onExtend } = latest.current
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
    if (event.defaultPrevented || count === 0) return
    if (!event.ctrlKey && !event.metaKey && !event.altKey) {
      const target = isInRow || key === 'j' || key === 'k' ? rowAfter(key, at, count) : undefined
      if (target !== undefined) {
        event.preventDefault()
        focusRow(isInRow ? target : firstVisible(at))
        if (event.shiftKey && isInRow) onExtend(at, target)
        return
      }
    }
    if (onKey(key, at, event)) event.preventDefault()
  }
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const target = event.target as Element
      if (target.closest(FIELDS) || document.querySelector('dialog[open]')) return
      // The table itself handles the keys of its rows.
      if (!target.closest('[role=grid], [role=menu]')) press(event, false)
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [height])

  return {
    active: latest.current.active,
    focusRow,
    onKeyDown: (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      const row = target.closest<HTMLElement>('[data-at]')
      // A control in the row has its own keys.
      if (!row || (target !== row && (event.key === 'Enter' || event.key === ' '))) return
      press(event, true)
    },
    onFocus: (event: FocusEvent) => {
      const at = (event.target as HTMLElement).closest<HTMLElement>('[data-at]')?.dataset.at
      if (at !== undefined && Number(at) !== latest.current.active) setActive({ at: Number(at) })
    },
  }
}

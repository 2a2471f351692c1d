import { useLayoutEffect, useRef } from 'preact/hooks'

import { randomKey } from '../../../client/client.ts'
import type { Route } from '../../base/route.ts'

/**
 * The scroll positions of the entries of the history. The browser cannot restore them, because the page is still empty after going back, and its
 * rows are rendered later.
 */

const STORED = 'tonearm.scrolled'
const places: Record<string, number> = JSON.parse(sessionStorage.getItem(STORED) ?? '{}')
/** The current entry of the history, and the function that stops restoring its scroll position. */
let entry = ''
let restoring: AbortController | null = null

/** Forgets all positions when the user signs out. */
export function forgetScroll(): void {
  for (const key of Object.keys(places)) delete places[key]
}

/** Must be called once, before the first render. */
export function keepScroll(): void {
  history.scrollRestoration = 'manual'
  addEventListener('scroll', () => restoring || (places[entry] = scrollY), { passive: true })
  // A reload or another page ends this module.
  addEventListener('pagehide', () => sessionStorage.setItem(STORED, JSON.stringify(places)))
}

/** Scrolls to the top of a new page and focuses it for screen readers. Restores the scroll position after going back. */
export function useScroll({ page, id, tab }: Route, main: HTMLElement | null): void {
  const shown = useRef('')
  // This runs before the browser notices that the page is shorter, and scrolls.
  useLayoutEffect(() => {
    const before = shown.current
    shown.current = `${page}/${id}`
    const place = arrive()
    if (place !== undefined) putBack(place)
    // Another tab of the same page does not scroll.
    else if (before !== '' && before !== shown.current) scrollTo(0, 0)
    if (before !== '' && before !== shown.current) main?.focus({ preventScroll: true })
  }, [page, id, tab])
}

/** Records the current entry of the history. Returns its scroll position if it was shown before. */
function arrive(): number | undefined {
  restoring?.abort()
  entry = keyOf()
  const place = places[entry]
  places[entry] ??= scrollY
  return place
}

/** Identifies an entry of the history. A link to the same page may remove its state, but not its key, which older browsers lack. */
function keyOf(): string {
  const { navigation } = window
  const state = history.state as { entry?: string } | null
  const key = navigation?.currentEntry?.key ?? state?.entry ?? randomKey()
  if (!navigation && !state?.entry) history.replaceState({ entry: key }, '')
  return key
}

/** Restores the scroll position once the page is long enough, unless the user scrolls first. */
function putBack(place: number): void {
  const ended = new AbortController()
  const { signal } = ended
  const grown = new ResizeObserver(() => {
    scrollTo(0, place)
    if (Math.abs(scrollY - place) < 1 && !document.querySelector('main .loading')) ended.abort()
  })
  signal.addEventListener('abort', () => {
    grown.disconnect()
    restoring = null
  })
  for (const name of ['wheel', 'touchmove', 'keydown', 'pointerdown']) {
    addEventListener(name, () => ended.abort(), { signal, passive: true })
  }
  restoring = ended
  grown.observe(document.body)
}

import { useLayoutEffect, useRef } from 'preact/hooks'

import { randomKey } from '../../client/client.ts'
import type { Route } from '../route.ts'

/**
 * Where each entry of the history was scrolled to. The browser cannot put that back: when somebody goes back, the page is still empty,
 * and its rows come a moment later.
 */

const STORED = 'tonearm.scrolled'
const places: Record<string, number> = JSON.parse(sessionStorage.getItem(STORED) ?? '{}')
/** The entry that is shown, and what ends putting it back to its place. */
let entry = ''
let restoring: AbortController | null = null

/** When somebody signs out, their lists are nobody's any more. */
export function forgetScroll(): void {
  for (const key of Object.keys(places)) delete places[key]
}

/** Called once, before anything is shown. */
export function keepScroll(): void {
  history.scrollRestoration = 'manual'
  addEventListener('scroll', () => restoring || (places[entry] = scrollY), { passive: true })
  // A reload, or a page elsewhere, ends this module.
  addEventListener('pagehide', () => sessionStorage.setItem(STORED, JSON.stringify(places)))
}

/** A new page begins at its top, for the eyes and for screen readers; one that is gone back to stands where it was left. */
export function useScroll({ page, id, tab }: Route, main: HTMLElement | null): void {
  const shown = useRef('')
  // Before the browser notices that the page has become shorter, and scrolls by itself.
  useLayoutEffect(() => {
    const before = shown.current
    shown.current = `${page}/${id}`
    const place = arrive()
    if (place !== undefined) putBack(place)
    // Another part of the same page leaves everything where it is.
    else if (before !== '' && before !== shown.current) scrollTo(0, 0)
    if (before !== '' && before !== shown.current) main?.focus({ preventScroll: true })
  }, [page, id, tab])
}

/** Takes note of the entry that is shown now; answers where it was scrolled to, when it has been seen before. */
function arrive(): number | undefined {
  restoring?.abort()
  entry = keyOf()
  const place = places[entry]
  places[entry] ??= scrollY
  return place
}

/** What an entry is known by. A link to the page itself may take its state away, but not its key, which older browsers do not give. */
function keyOf(): string {
  const { navigation } = window
  const state = history.state as { entry?: string } | null
  const key = navigation?.currentEntry?.key ?? state?.entry ?? randomKey()
  if (!navigation && !state?.entry) history.replaceState({ entry: key }, '')
  return key
}

/** Scrolls to where the page was left as soon as it is long enough again, unless somebody scrolls meanwhile. */
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

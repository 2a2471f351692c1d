import type { TargetedMouseEvent } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** The parts of the address. It is in the hash, because the studio is one static file. */
export interface Route {
  page: string
  id: string
  tab: string
}

export type PageProperties = Omit<Route, 'page'>

/** Parses `#/collection/{id}/look`. */
export function parseRoute(hash: string): Route {
  const [page = '', id = '', tab = ''] = hash.replace(/^#\/?/, '').split('/')
  return { page: page || 'collections', id, tab }
}

export const href = (page: string, id = '', tab = '') => `#/${[page, id, tab].filter(Boolean).join('/')}`

export const go = (page: string, id = '', tab = '') => {
  location.hash = href(page, id, tab)
}

/** Goes back in the history if the link leads to the previous page, which keeps its scroll position. */
export function goBack(event: TargetedMouseEvent<HTMLAnchorElement>): void {
  const { navigation } = window
  const before = navigation?.entries()[(navigation.currentEntry?.index ?? 0) - 1]
  if (event.ctrlKey || event.metaKey || event.shiftKey || before?.url !== event.currentTarget.href) return
  event.preventDefault()
  history.back()
}

/** Returns the current route. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const update = () => setHash(location.hash)
    window.addEventListener('hashchange', update)
    // The hash may have changed between the first render and this effect.
    update()
    return () => window.removeEventListener('hashchange', update)
  }, [])
  return parseRoute(hash)
}

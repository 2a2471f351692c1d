import type { TargetedMouseEvent } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** What the address shows. Hashes, because the page is one static file, and so that the back button works. */
export interface Route {
  page: string
  id: string
  tab: string
}

export type PageProperties = Omit<Route, 'page'>

/** `#/collection/{id}/look` → its parts. */
export function parseRoute(hash: string): Route {
  const [page = '', id = '', tab = ''] = hash.replace(/^#\/?/, '').split('/')
  return { page: page || 'collections', id, tab }
}

export const href = (page: string, id = '', tab = '') => `#/${[page, id, tab].filter(Boolean).join('/')}`

export const go = (page: string, id = '', tab = '') => {
  location.hash = href(page, id, tab)
}

/** A link that leads to where somebody came from goes back there, so that it stands as it was left. */
export function goBack(event: TargetedMouseEvent<HTMLAnchorElement>): void {
  const { navigation } = window
  const before = navigation?.entries()[(navigation.currentEntry?.index ?? 0) - 1]
  if (event.ctrlKey || event.metaKey || event.shiftKey || before?.url !== event.currentTarget.href) return
  event.preventDefault()
  history.back()
}

/** The route, as it changes. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const update = () => setHash(location.hash)
    window.addEventListener('hashchange', update)
    // It may have changed since it was read.
    update()
    return () => window.removeEventListener('hashchange', update)
  }, [])
  return parseRoute(hash)
}

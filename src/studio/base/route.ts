import type { TargetedMouseEvent } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** The parts of the address. It is in the hash, because the studio is one static file. */
export interface Route {
  page: string
  id: string
  tab: string
  /** Search, filters and sort order of the page. */
  query: Readonly<Record<string, string>>
}

export type PageProperties = Omit<Route, 'page'>

/** Matches the id of a resource. */
export const ID = /^[\da-f-]{36}$/

/** Parses `#/collection/{id}/look?sort=title`. */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const [page = '', id = '', tab = ''] = path.split('/')
  return { page: page || 'overview', id, tab, query: Object.fromEntries(new URLSearchParams(search)) }
}

/** Returns the address of a page. Empty values are left out of the query. */
export function href(page: string, id = '', tab = '', query: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString()
  return `#/${[page, id, tab].filter(Boolean).join('/')}${search && `?${search}`}`
}

/** Changes the query of the current address without a new entry in the history. An empty value removes its name. */
export function setQuery(changes: Readonly<Record<string, string>>): void {
  const { page, id, tab, query } = parseRoute(location.hash)
  location.replace(href(page, id, tab, { ...query, ...changes }))
}

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

import type { PlayScope } from '../../base/api.ts'
import { href, ID, parseRoute, setQuery } from '../../base/route.ts'

/** The resource of the share dialog. It is in the address (`?share=collection.{id}`), so that going back closes the dialog. */
export interface Shared {
  scope: PlayScope
  id: string
  /** One of its links; by default the newest that has not ended. */
  share_id: string | undefined
}

/** The titles that pages passed to `openShare`, which the dialog shows without a request. */
const titles = new Map<string, string>()

export const titleOf = ({ id }: Pick<Shared, 'id'>) => titles.get(id)

/** Opens the share dialog on top of the current page. */
export function openShare({ title, ...shared }: Omit<Shared, 'share_id'> & { title: string; share_id?: string }): void {
  titles.set(shared.id, title)
  const { page, id, tab, query } = parseRoute(location.hash)
  const share = [shared.scope, shared.id, shared.share_id ?? []].flat().join('.')
  location.hash = href(page, id, tab, { ...query, share })
}

/** Closes the dialog: goes back to the page that opened it, or removes it from the address of a page that was opened with it. */
export function closeShare(): void {
  const { navigation } = window
  const { page, id, tab, query } = parseRoute(location.hash)
  const before = navigation?.entries()[(navigation.currentEntry?.index ?? 0) - 1]
  const without = new URL(href(page, id, tab, { ...query, share: '' }), location.href).href
  if (before?.url === without) history.back()
  else setQuery({ share: '' })
}

/** Parses the value of `share` in an address. Returns null if it is not valid. */
export function parseShared(value: string | undefined): Shared | null {
  const [scope, id = '', share_id] = value?.split('.') ?? []
  if (scope !== 'collection' && scope !== 'track' && scope !== 'playlist') return null
  if (!ID.test(id) || (share_id !== undefined && !ID.test(share_id))) return null
  return { scope, id, share_id }
}

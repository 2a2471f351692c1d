import { type Route, setQuery } from '../../base/route.ts'
import { text } from '../../base/text.ts'
import { preferences, prefer } from '../../data/preferences.ts'
import { useStore } from '../../data/store.ts'
import type { TrackList } from '../../data/track_rows.ts'
import { useMedia } from '../../ui/page/media.ts'

/** The state of a table of tracks, which is in the address: search, filter, order and hidden columns. */

/** The filters by status, with the statuses of the service. */
export const FILTERS: Record<string, { label: string; status: string }> = {
  ready: { label: text('Ready'), status: 'ready,incomplete' },
  processing: { label: text('Processing'), status: 'initializing,processing,fallback_processing' },
  failed: { label: text('Failed'), status: 'failed' },
  incomplete: { label: text('Variants missing'), status: 'incomplete' },
}

/** The orders, with the header of their column. `order` is only possible in a collection. */
export const SORTS: Record<string, string> = {
  order: text('Order'),
  title: text('Title'),
  duration: text('Length'),
  created_at: text('Added'),
  updated_at: text('Changed'),
}

/** The columns that can be hidden. */
export const COLUMNS: Record<string, string> = {
  album: text('Collection'),
  wave: text('Waveform'),
  duration: text('Length'),
  loudness: text('Loudness'),
  added: text('Added'),
}

/** Returns the list that an address asks for. Values that the studio does not know are ignored. */
export function listOf({ q = '', status = '', sort = '' }: Route['query'], collection_id?: string): TrackList {
  const name = sort.replace('-', '')
  const isKnown = Object.hasOwn(SORTS, name) && (name !== 'order' || collection_id !== undefined)
  return {
    collection_id,
    q: q.trim(),
    status: Object.hasOwn(FILTERS, status) ? FILTERS[status]!.status : '',
    sort: isKnown && sort !== 'order' ? sort : '',
  }
}

/** Whether a list has the order of its collection and all of its tracks, so that they can be moved. */
export const isInOrder = ({ collection_id, q, status, sort }: TrackList) =>
  collection_id !== undefined && !q && !status && !sort

/** Returns the order after a click on a header: the other direction of the current order, or the usual direction of another. */
export function nextSort(current: string, name: string): string {
  if (current.replace('-', '') === name) return current.startsWith('-') ? name : `-${name}`
  return name.endsWith('_at') ? `-${name}` : name
}

/** Returns the hidden columns, and the function that shows or hides one. The choice is kept for other tables. */
export function useColumns({ hide }: Route['query']): [hidden: ReadonlySet<string>, toggle: (name: string) => void] {
  const { hidden: preferred } = useStore(preferences)
  const hidden = new Set((hide ?? preferred).split(',').filter((name) => Object.hasOwn(COLUMNS, name)))
  function toggle(name: string) {
    if (!hidden.delete(name)) hidden.add(name)
    const names = [...hidden].join(',')
    setQuery({ hide: names })
    void prefer({ hidden: names })
  }
  return [hidden, toggle]
}

/** Returns the height of a row in pixels. */
export function useRowHeight(): number {
  const { rows } = useStore(preferences)
  const isPhone = useMedia('(width < 720px)')
  return (rows === 'comfortable' ? 64 : 48) + (isPhone ? 12 : 0)
}

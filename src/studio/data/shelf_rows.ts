import type { Collection, CoverImage, Failure, Playlist } from '../base/api.ts'
import { useClient } from './connection.ts'
import { type PageRead, type ReadPage, useRows } from './rows.ts'

/** A collection or a playlist in a long list. */
export interface ShelfItem {
  id: string
  title: string
  player_subtitle: string
  updated_at: string
  artwork?: CoverImage | undefined
  counts?: { tracks: number; duration: number | null } | undefined
}

/** The search and the order of a list; both may be empty. */
export interface ShelfList {
  kind: 'collection' | 'playlist'
  q: string
  sort: string
}

type InList<T> = T & Pick<ShelfItem, 'artwork' | 'counts'>

/** Keeps only what a card shows, because a library may have thousands. */
const toItem = ({ id, title, player_subtitle, updated_at, artwork, counts }: InList<Collection | Playlist>) => ({
  id,
  title,
  player_subtitle,
  updated_at,
  artwork,
  counts,
})

/** Reads the collections or the playlists that a page shows. */
export function useShelfRows({ kind, q, sort }: ShelfList) {
  const client = useClient()
  async function read({ signal, ...page }: PageRead): Promise<ReadPage<ShelfItem> | Failure> {
    const query = {
      ...page,
      include: ['artwork', 'counts'] as const,
      ...(q && { q }),
      ...(sort && { sort: sort as 'title' }),
    }
    const answer =
      kind === 'collection'
        ? await client.get('/v1/collection', { query, signal })
        : await client.get('/v1/playlist', { query, signal })
    if (!answer.ok) return answer
    const entries = 'collections' in answer ? answer.collections : answer.playlists
    return {
      ok: true,
      entries: entries.map(toItem),
      count: answer.count,
      isCapped: answer.is_count_exact === false,
    }
  }
  return useRows<ShelfItem>({ key: ['shelf', kind, q, sort], read, isChanging: () => false })
}
export type ShelfRows = ReturnType<typeof useShelfRows>

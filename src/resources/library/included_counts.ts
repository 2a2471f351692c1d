import { eq, type SQL, sql } from 'drizzle-orm'

import { inJsonList } from '../../adapters/db/database.ts'
import { listCounts } from '../../adapters/db/schema/counters.ts'
import { playlistTracks, tracks } from '../../adapters/db/schema/library.ts'
import type { Context } from '../../context.ts'
import { MAX_SCANNED } from '../list/row_source.ts'
import { isIncluded } from './list_items.ts'

/** The numbers of tracks and the durations of the collections or playlists on a page (docs/decisions/0090). */

type Row = { id: string }
type Counted<T> = T & { counts: { tracks: number; duration: number | null } }

/**
 * Adds the counts to the items of a page. Durations are summed from the rows of the tracks, so they are read only for the first items that together have
 * at most `MAX_SCANNED` tracks.
 */
async function withCounts<T extends Row>(
  items: T[],
  tracksOf: (item: T) => number,
  durations: (ids: SQL) => Promise<{ id: string; duration: number }[]>,
): Promise<Counted<T>[]> {
  let total = 0
  const summed = items.filter((item) => (total += tracksOf(item)) <= MAX_SCANNED)
  const rows = await durations(inJsonList(summed.map(({ id }) => id)))
  const byId = new Map(rows.map(({ id, duration }) => [id, duration]))
  const ids = new Set(summed.map(({ id }) => id))
  return items.map((item) => {
    const duration = ids.has(item.id) ? Math.round((byId.get(item.id) ?? 0) * 1000) / 1000 : null
    return { ...item, counts: { tracks: tracksOf(item), duration } }
  })
}

const duration = sql<number>`sum(${tracks.duration})`

/** Returns collections with the number and the total duration of their tracks, if `include` asks for them. */
export async function withCollectionCounts<T extends Row>({ db }: Context, include: string | undefined, items: T[]) {
  if (!isIncluded(include, 'counts')) return items
  const lists = inJsonList(items.map(({ id }) => `tracks:${id}`))
  const counts = await db.all<{ list: string; count: number }>(
    sql`select list, count from ${listCounts} where list in ${lists} and level = 0 and bucket = 0`,
  )
  const byList = new Map(counts.map(({ list, count }) => [list, count]))
  return withCounts(
    items,
    ({ id }) => byList.get(`tracks:${id}`) ?? 0,
    (ids) =>
      db
        .select({ id: tracks.collection_id, duration })
        .from(tracks)
        .where(sql`${tracks.collection_id} in ${ids}`)
        .groupBy(tracks.collection_id),
  )
}

/** Returns playlists with the number and the total duration of their tracks, if `include` asks for them. */
export async function withPlaylistCounts<T extends Row & { track_count: number }>(
  { db }: Context,
  include: string | undefined,
  items: T[],
) {
  if (!isIncluded(include, 'counts')) return items
  const { playlist_id, track_id } = playlistTracks
  return withCounts(
    items,
    (item) => item.track_count,
    (ids) =>
      db
        .select({ id: playlist_id, duration })
        .from(playlistTracks)
        .innerJoin(tracks, eq(tracks.id, track_id))
        .where(sql`${playlist_id} in ${ids}`)
        .groupBy(playlist_id),
  )
}

import { type SQL, sql } from 'drizzle-orm'

import { type Database, inJsonList, runBatch, type Statement } from '../../adapters/db/database.ts'
import type { Context } from '../../context.ts'
import { MAX_SCANNED } from '../list/row_source.ts'
import type { ShownCover } from './cover_image.ts'
import {
  collectionCovers,
  covers,
  type Include,
  isIncluded,
  playlistCovers,
  toCollectionCovers,
  toPlaylistCovers,
} from './list_items.ts'

/** The parts that `include` adds to lists of collections and playlists (docs/decisions/0090). One trip reads all of them. */

interface Row {
  id: string
  cover_path: string | null
}

/**
 * Returns the query for the numbers of tracks and their durations. `listed` selects `key`, `id` and `tracks`, and `durations` is a query with the durations of
 * the tracks of `listed.id`. They are summed only for the first items that together have at most `MAX_SCANNED` tracks.
 */
const countsOf = (db: Database, listed: SQL, durations: SQL) =>
  db
    .select({
      id: sql<string>`id`.as('id'),
      tracks: sql<number>`tracks`.as('tracks'),
      duration: sql<number | null>`iif(upto <= ${MAX_SCANNED}, round(coalesce((${durations}), 0), 3), null)`.as(
        'duration',
      ),
    })
    .from(sql`(select id, tracks, sum(tracks) over (order by key) as upto from (${listed})) as listed`)

/** Returns the ids of the rows that have no own cover. */
const withoutCover = (rows: Row[]) => inJsonList(rows.flatMap((row) => (row.cover_path === null ? [row.id] : [])))

/** Adds counts and covers to the items of a page. `counts` and `borrowed` are the queries for them, of which only those that `include` asks for are run. */
async function withParts<T extends { id: string }, Q extends Statement>(
  context: Context,
  include: Include,
  items: T[],
  rows: Row[],
  counts: ReturnType<typeof countsOf>,
  borrowed: Q,
  toCovers: (rows: Q['_']['result']) => Map<string, ShownCover>,
) {
  const [hasCounts, hasCovers] = [isIncluded(include, 'counts'), isIncluded(include, 'artwork')]
  const resultOf = await runBatch(context.db, [...(hasCounts ? [counts] : []), ...(hasCovers ? [borrowed] : [])])
  const countsById = new Map(hasCounts ? resultOf(counts).map(({ id, ...each }) => [id, each]) : [])
  const coversById = hasCovers ? toCovers(resultOf(borrowed)) : null
  const cover = coversById && (await covers(context))
  return Promise.all(
    items.map(async (item, at) => ({
      ...item,
      counts: countsById.get(item.id),
      artwork: cover ? await cover(coversById.get(item.id) ?? rows[at]!) : undefined,
    })),
  )
}

/** Returns collections with the parts that `include` asks for. */
export function withCollectionParts<T extends { id: string }>(
  context: Context,
  include: Include,
  items: T[],
  rows: Row[],
) {
  const listed = sql`select place.key, place.value as id, coalesce(counted.count, 0) as tracks
    from json_each(${JSON.stringify(rows.map(({ id }) => id))}) as place left join list_counts as counted
    on counted.list = 'tracks:' || place.value and counted.level = 0 and counted.bucket = 0`
  const durations = sql`select sum(duration) from tracks where collection_id = listed.id`
  const counts = countsOf(context.db, listed, durations)
  const borrowed = collectionCovers(context, withoutCover(rows))
  return withParts(context, include, items, rows, counts, borrowed, toCollectionCovers)
}

/** Returns playlists with the parts that `include` asks for. */
export function withPlaylistParts<T extends { id: string }>(
  context: Context,
  include: Include,
  items: T[],
  rows: (Row & { track_count: number })[],
) {
  const numbers = rows.map(({ id, track_count: tracks }) => ({ id, tracks }))
  const listed = sql`select key, value ->> 'id' as id, value ->> 'tracks' as tracks from json_each(${JSON.stringify(numbers)})`
  const durations = sql`select sum(duration) from playlist_tracks join tracks on tracks.id = track_id where playlist_id = listed.id`
  const counts = countsOf(context.db, listed, durations)
  const borrowed = playlistCovers(context, withoutCover(rows))
  return withParts(context, include, items, rows, counts, borrowed, toPlaylistCovers)
}

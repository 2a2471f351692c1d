import { sql } from 'drizzle-orm'

import type { Database } from '../../adapters/db/database.ts'
import { tracks } from '../../adapters/db/schema/library.ts'
import type { Tags } from '../../contract/info.ts'
import { type Job, ifJustEnded } from '../../domain/jobs.ts'

/**
 * Number of positions before and after a track that are searched for other tracks of its album. The limit makes the cost independent of the
 * collection's size.
 */
const SPAN = 200

/**
 * Returns the statements that sort a track into its album: the tracks of the album keep the same set of positions, and are ordered by disc and track
 * number within these positions. Nothing changes when the order is already right or when the collection was ordered manually.
 */
export function orderAlbum(
  db: Database,
  job: Job<'transcode'>,
  { id, collection_id }: { id: string; collection_id: string },
  { album, album_artist, track_number }: Tags,
) {
  if (album === undefined || track_number === undefined) return []
  const position = sql`(select "order" from tracks where id = ${id} and job_id = ${job.id})`
  const tag = (name: string) => sql.raw(`tags ->> '$.${name}'`)
  const number = sql`coalesce(${tag('disc_number')}, 1), ${tag('track_number')}, "order"`
  const placed = sql`(
    with album as materialized (
      select id, "order" as place, row_number() over (order by ${number}) as n from tracks
      where collection_id = ${collection_id} and "order" between ${position} - ${SPAN} and ${position} + ${SPAN}
        and ${tag('album')} = ${album} and ${tag('album_artist')} is ${album_artist ?? null}
        and ${tag('track_number')} is not null
    ), held as (select place, row_number() over (order by place) as n from album)
    select album.id as track_id, held.place from album join held on held.n = album.n where held.place <> album.place
  ) as placed`
  const isUnordered = sql`exists (select 1 from collections where id = ${collection_id} and is_ordered = 0)`
  return [
    db
      .update(tracks)
      .set({ order: sql`placed.place` })
      .from(placed)
      .where(sql`${tracks.id} = placed.track_id and ${isUnordered} and ${ifJustEnded(job, 'done')}`),
  ]
}

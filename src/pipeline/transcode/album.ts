import { sql } from 'drizzle-orm'

import type { Database } from '../../adapters/database.ts'
import { tracks } from '../../adapters/schema.ts'
import type { Tags } from '../../contract/info.ts'
import { type Job, whenEnded } from '../jobs.ts'

/** Places before and behind a track in which its album is looked for, so that a collection of any size costs the same. */
const SPAN = 200

/**
 * Puts a track where its album has it: the tracks of one album share out the places that they hold, by disc and number. Nothing is moved
 * that stands right, nor in a collection that somebody has ordered.
 */
export function orderAlbum(
  db: Database,
  job: Job<'transcode'>,
  { id, collection_id }: { id: string; collection_id: string },
  { album, album_artist, track_number }: Tags,
) {
  if (album === undefined || track_number === undefined) return []
  const place = sql`(select "order" from tracks where id = ${id} and job_id = ${job.id})`
  const tag = (name: string) => sql.raw(`tags ->> '$.${name}'`)
  const number = sql`coalesce(${tag('disc_number')}, 1), ${tag('track_number')}, "order"`
  const placed = sql`(
    with album as materialized (
      select id, "order" as place, row_number() over (order by ${number}) as n from tracks
      where collection_id = ${collection_id} and "order" between ${place} - ${SPAN} and ${place} + ${SPAN}
        and ${tag('album')} = ${album} and ${tag('album_artist')} is ${album_artist ?? null}
        and ${tag('track_number')} is not null
    ), held as (select place, row_number() over (order by place) as n from album)
    select album.id as track_id, held.place from album join held on held.n = album.n where held.place <> album.place
  ) as placed`
  const free = sql`exists (select 1 from collections where id = ${collection_id} and is_ordered = 0)`
  return [
    db
      .update(tracks)
      .set({ order: sql`placed.place` })
      .from(placed)
      .where(sql`${tracks.id} = placed.track_id and ${free} and ${whenEnded(job, 'done')}`),
  ]
}

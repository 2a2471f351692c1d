import { eq, type SQL, sql } from 'drizzle-orm'

import type { Database } from './database.ts'
import { newId } from './id.ts'
import { playlists, playlistTracks } from './schema.ts'

/** Numbers the places anew, 0, 1, 2, …, in every playlist that this change signed, and counts them. */
export function renumber(db: Database, change_id: string) {
  const signed = sql`select id from playlists where change_id = ${change_id}`
  return [
    db
      .update(playlistTracks)
      .set({ position: sql`ranked.place` })
      .from(
        sql`(select id as place_id, row_number() over (partition by playlist_id order by position) - 1 as place
          from playlist_tracks where playlist_id in (${signed})) as ranked`,
      )
      .where(sql`${playlistTracks.id} = ranked.place_id and ${playlistTracks.position} <> ranked.place`),
    db
      .update(playlists)
      .set({ track_count: sql`(select count(*) from playlist_tracks where playlist_id = playlists.id)` })
      .where(eq(playlists.change_id, change_id)),
  ] as const
}

/** Takes deleted tracks out of all playlists; for the batch that deletes them, before the tracks go. */
export function removeFromPlaylists(db: Database, deleted: SQL) {
  const change_id = newId()
  const affected = sql`id in (select playlist_id from playlist_tracks where track_id in ${deleted})`
  return [
    db
      .update(playlists)
      .set({ version: sql`version + 1`, change_id })
      .where(affected),
    db.delete(playlistTracks).where(sql`track_id in ${deleted}`),
    ...renumber(db, change_id),
  ] as const
}

import { and, eq, or, type SQL, sql } from 'drizzle-orm'

import { MAX_PLAYLIST_TRACKS } from '../../contract/facts.ts'
import { newId } from '../crypto/id.ts'
import type { Database } from './database.ts'
import { recordEvents, type Recorder } from './record_event.ts'
import { playlists, playlistTracks } from './schema/library.ts'

/**
 * Renumbers positions from 0 in every playlist with this `change_id`, and updates `track_count`. Also records an update event, unless `recordsEvent`
 * is false.
 */
export function renumberEntries(recorder: Recorder, change_id: string, recordsEvent = true) {
  const { db } = recorder
  const changedPlaylists = sql`select id from playlists where change_id = ${change_id}`
  return [
    db
      .update(playlistTracks)
      .set({ position: sql`ranked.place` })
      .from(
        sql`(select id as place_id, row_number() over (partition by playlist_id order by position) - 1 as place
          from playlist_tracks where playlist_id in (${changedPlaylists})) as ranked`,
      )
      .where(sql`${playlistTracks.id} = ranked.place_id and ${playlistTracks.position} <> ranked.place`),
    db
      .update(playlists)
      .set({ track_count: sql`(select count(*) from playlist_tracks where playlist_id = playlists.id)` })
      .where(eq(playlists.change_id, change_id)),
    ...(recordsEvent
      ? [
          recordEvents(recorder, 'playlist.updated', sql`playlists where change_id = ${change_id}`, {
            changed: ['tracks'],
          }),
        ]
      : []),
  ] as const
}

/**
 * Entries whose track or playlist is in the trash are hidden: their `playlist_id` has a prefix, so they belong to no playlist. The prefix is
 * `whole:{id}` if the playlist was moved to the trash, and `alone:{id}` if only the track was.
 */
const isHidden = sql`substr(playlist_id, 6, 1) = ':'`
const homeId = sql`substr(playlist_id, 7)`

/** Matches the hidden entries of a playlist, whether the playlist or their tracks were moved to the trash. */
export const hiddenEntriesOf = (playlist_id: string) =>
  ['whole', 'alone'].map((prefix) => sql`playlist_id = ${`${prefix}:${playlist_id}`}`)

/**
 * Returns the statements that hide entries so that they can be restored. They belong in the batch that moves the tracks or the playlist to the trash.
 */
export function hideEntries(recorder: Recorder, entries: SQL, prefix: 'whole' | 'alone') {
  const { db } = recorder
  const change_id = newId()
  const hidden = sql`${entries} and not ${isHidden}`
  return [
    db
      .update(playlists)
      .set({ version: sql`version + 1`, change_id })
      .where(sql`id in (select playlist_id from playlist_tracks where ${hidden})`),
    db
      .update(playlistTracks)
      .set({ playlist_id: sql`${`${prefix}:`} || playlist_id` })
      .where(hidden),
    ...renumberEntries(recorder, change_id, prefix === 'alone'),
  ] as const
}

/**
 * Returns the statements that restore entries at their previous positions, if their playlist and track both exist again. Entries stay hidden if their
 * playlist would get too many tracks. The statements belong in the batch that restores the track or playlist from the trash.
 */
export function restoreEntries(recorder: Recorder, entries: SQL, recordsEvent: boolean) {
  const { db } = recorder
  const change_id = newId()
  const restorable = sql`${entries} and ${isHidden} and exists (
    select 1 from tracks, collections where tracks.id = track_id and collections.id = tracks.collection_id)`
  const count = (of: SQL) => sql`(select count(*) from playlist_tracks where ${of})`
  const hasRoom = sql`${count(sql`playlist_id = playlists.id`)}
    + ${count(sql`playlist_id in ('whole:' || playlists.id, 'alone:' || playlists.id) and ${restorable}`)} <= ${MAX_PLAYLIST_TRACKS}`
  // The stored position of a hidden entry also counts the entries that were hidden with it, so n − 1 of the entries before the n-th restored entry
  // are restored ones.
  const restored = sql`(select id as place_id, ${homeId} as home, position, row_number() over (partition by playlist_id order by position) as n
    from playlist_tracks where ${restorable}) as returning_place`
  return [
    db
      .update(playlists)
      .set({ version: sql`version + 1`, change_id })
      .where(sql`id in (select ${homeId} from playlist_tracks where ${restorable}) and ${hasRoom}`),
    db
      .update(playlistTracks)
      .set({ playlist_id: sql`home`, position: sql`returning_place.position - n + 0.5 + n / 2000.0` })
      .from(restored)
      .where(
        sql`${playlistTracks.id} = place_id and exists (select 1 from playlists where id = home and change_id = ${change_id})`,
      ),
    ...renumberEntries(recorder, change_id, recordsEvent),
  ] as const
}

/** Deletes the hidden entries of a playlist that match a condition. */
export const deleteHiddenEntries = (db: Database, playlist_id: string, condition: SQL) =>
  db.delete(playlistTracks).where(and(or(...hiddenEntriesOf(playlist_id)), condition))

/**
 * Returns the statements that remove deleted tracks from all playlists. They belong in the batch that deletes the tracks, before its statement that
 * deletes the rows.
 */
export function removeFromPlaylists(recorder: Recorder, deleted: SQL) {
  const { db } = recorder
  const change_id = newId()
  const affected = sql`id in (select playlist_id from playlist_tracks where track_id in ${deleted})`
  return [
    db
      .update(playlists)
      .set({ version: sql`version + 1`, change_id })
      .where(affected),
    db.delete(playlistTracks).where(sql`track_id in ${deleted}`),
    ...renumberEntries(recorder, change_id),
  ] as const
}

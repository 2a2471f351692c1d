import { and, eq, or, type SQL, sql } from 'drizzle-orm'

import { MAX_PLAYLIST_TRACKS } from '../contract/facts.ts'
import type { Database } from './database.ts'
import { newId } from './id.ts'
import { recordEvents, type Recorder } from './record_event.ts'
import { playlists, playlistTracks } from './schema.ts'

/** Numbers the places anew, 0, 1, 2, …, in every playlist that this change signed, counts them, and tells that their tracks are others. */
export function renumber(recorder: Recorder, change_id: string, recordsEvent = true) {
  const { db } = recorder
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
 * Places that wait for something in the trash are of a playlist that is none: `whole:{id}` those that went with their playlist, `alone:{id}`
 * those that went with their track.
 */
const waits = sql`substr(playlist_id, 6, 1) = ':'`
const home = sql`substr(playlist_id, 7)`

/** The places that went with a playlist, and those that its tracks took along. */
export const waitingFor = (playlist_id: string) =>
  ['whole', 'alone'].map((way) => sql`playlist_id = ${`${way}:${playlist_id}`}`)

/** Takes places out of their playlists so that they can come back; for the batch that moves their tracks, or the playlist, into the trash. */
export function hidePlaces(recorder: Recorder, places: SQL, way: 'whole' | 'alone') {
  const { db } = recorder
  const change_id = newId()
  const hidden = sql`${places} and not ${waits}`
  return [
    db
      .update(playlists)
      .set({ version: sql`version + 1`, change_id })
      .where(sql`id in (select playlist_id from playlist_tracks where ${hidden})`),
    db
      .update(playlistTracks)
      .set({ playlist_id: sql`${`${way}:`} || playlist_id` })
      .where(hidden),
    ...renumber(recorder, change_id, way === 'alone'),
  ] as const
}

/**
 * Brings back the places whose playlist and track are there again, to where they stood; those of a playlist that would have too many
 * go on waiting. For the batch that takes them out of the trash.
 */
export function showPlaces(recorder: Recorder, places: SQL, recordsEvent: boolean) {
  const { db } = recorder
  const change_id = newId()
  const back = sql`${places} and ${waits} and exists (
    select 1 from tracks, collections where tracks.id = track_id and collections.id = tracks.collection_id)`
  const count = (of: SQL) => sql`(select count(*) from playlist_tracks where ${of})`
  const room = sql`${count(sql`playlist_id = playlists.id`)}
    + ${count(sql`playlist_id in ('whole:' || playlists.id, 'alone:' || playlists.id) and ${back}`)} <= ${MAX_PLAYLIST_TRACKS}`
  // The n-th that comes back stood behind n others that do.
  const returning = sql`(select id as place_id, ${home} as home, position, row_number() over (partition by playlist_id order by position) as n
    from playlist_tracks where ${back}) as returning_place`
  return [
    db
      .update(playlists)
      .set({ version: sql`version + 1`, change_id })
      .where(sql`id in (select ${home} from playlist_tracks where ${back}) and ${room}`),
    db
      .update(playlistTracks)
      .set({ playlist_id: sql`home`, position: sql`returning_place.position - n + 0.5 + n / 2000.0` })
      .from(returning)
      .where(
        sql`${playlistTracks.id} = place_id and exists (select 1 from playlists where id = home and change_id = ${change_id})`,
      ),
    ...renumber(recorder, change_id, recordsEvent),
  ] as const
}

/** Deletes the places that wait for a playlist, under a condition. */
export const forgetPlaces = (db: Database, playlist_id: string, condition: SQL) =>
  db.delete(playlistTracks).where(and(or(...waitingFor(playlist_id)), condition))

/** Takes deleted tracks out of all playlists; for the batch that deletes them, before the tracks go. */
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
    ...renumber(recorder, change_id),
  ] as const
}

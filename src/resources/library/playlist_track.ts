import { and, asc, eq, gte, inArray, lt, type SQL, sql } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'

import { newId } from '../../adapters/crypto/id.ts'
import { rowId } from '../../adapters/crypto/seed.ts'
import { inJsonList, insertFrom, isDuplicate, runBatch } from '../../adapters/db/database.ts'
import { renumberEntries } from '../../adapters/db/playlist_order.ts'
import { retrying } from '../../adapters/db/retry.ts'
import { isInCollection, playlists, playlistTracks, tracks } from '../../adapters/db/schema/library.ts'
import type { Context } from '../../context.ts'
import type { Page } from '../../contract/common.ts'
import { MAX_PLAYLIST_TRACKS } from '../../contract/facts.ts'
import { Playlist } from '../../contract/playlist.ts'
import { ApiError, invalid, notFound } from '../../core/errors.ts'
import { columnsFor, type Include, toTracks } from './list_items.ts'
import { findOrganization } from './organization.ts'
import { withInherited } from './resource_fields.ts'
import { expectedVersion, versionMismatch } from './version.ts'

/**
 * The tracks of a playlist. After every change, their positions are 0, 1, 2, …, so the first row of a page is found by its offset, however large the
 * offset is.
 *
 * D1 has no interactive transactions, so each change is a single batch. The first statement checks the version and writes the change's id into the
 * playlist. All other statements have an effect only if the playlist has that id.
 */

/** Returns a page of a playlist, together with the count and the version at the same moment. This reads two rows per track. */
export async function listTracks(
  context: Context,
  playlist_id: string,
  { limit, offset, include }: Page & { include?: Include },
) {
  const { db, principal } = context
  // The column has an alias, because a batch returns only one of two columns with the same name.
  const playlist_track_id = sql<string>`${playlistTracks.id}`.as('playlist_track_id')
  const [[playlist], entries] = await db.batch([
    db
      .select({ count: playlists.track_count, version: playlists.version, cover_path: playlists.cover_path })
      .from(playlists)
      .where(and(eq(playlists.id, playlist_id), eq(playlists.organization_id, principal.organization_id))),
    db
      .select({ place: { playlist_track_id, position: playlistTracks.position }, track: columnsFor(include) })
      .from(playlistTracks)
      .innerJoin(tracks, eq(tracks.id, playlistTracks.track_id))
      .where(
        and(
          eq(playlistTracks.playlist_id, playlist_id),
          gte(playlistTracks.position, offset),
          lt(playlistTracks.position, offset + limit),
        ),
      )
      .orderBy(asc(playlistTracks.position)),
  ])
  if (!playlist) throw notFound('playlist')
  const rows = entries.map(({ track }) => track)
  const shown = await toTracks(context, include, rows, playlist)
  return { ...playlist, tracks: shown.map((track, at) => ({ ...track, ...entries[at]!.place })) }
}

/** Runs a single change to the tracks of a playlist. `change` builds the statements, given the condition that the change applies. */
async function changeTracks(
  context: Context,
  playlist_id: string,
  if_match: string | undefined,
  change: (signed: SQL) => BatchItem<'sqlite'>[],
  condition?: SQL,
): Promise<boolean> {
  const { db, principal, now: updated_at } = context
  // A batch that is repeated after a lost response finds its own id in the playlist, and changes nothing.
  const change_id = rowId(context)
  const version = expectedVersion(if_match)
  const signed = sql`exists (select 1 from playlists where id = ${playlist_id} and change_id = ${change_id})`
  const update = db
    .update(playlists)
    .set({ version: sql`version + 1`, change_id, updated_at })
    .where(
      and(
        eq(playlists.id, playlist_id),
        eq(playlists.organization_id, principal.organization_id),
        sql`change_id is not ${change_id}`,
        version === undefined ? undefined : eq(playlists.version, version),
        condition,
      ),
    )
    .returning({ id: playlists.id })
  const statements = [update, ...change(signed), ...renumberEntries(context, change_id)]
  try {
    const resultOf = await retrying(() => runBatch(db, statements))
    if (resultOf(update).length > 0) return true
  } catch (error) {
    // An earlier attempt has inserted the same entries.
    if (isDuplicate(error)) return true
    throw error
  }
  const now = await db.select().from(playlists).where(eq(playlists.id, playlist_id)).get()
  if (!now) throw notFound('playlist')
  if (now.change_id === change_id) return true
  if (version !== undefined && version !== now.version) {
    throw versionMismatch('playlist', withInherited(now, await findOrganization(context)), Playlist)
  }
  return false
}

/** Checks that all tracks belong to the organization. The error names the first track that does not. */
async function checkTracks({ db, principal }: Context, track_ids: string[]): Promise<void> {
  const ownTracks = await db
    .select({ id: tracks.id })
    .from(tracks)
    .where(
      and(
        inArray(tracks.id, inJsonList([...new Set(track_ids)])),
        // The `+` keeps SQLite from using an index that covers all tracks.
        sql`+${tracks.organization_id} = ${principal.organization_id}`,
        isInCollection,
      ),
    )
  const ids = new Set(ownTracks.map((track) => track.id))
  const at = track_ids.findIndex((id) => !ids.has(id))
  if (at >= 0) throw invalid(`track_ids.${at}`, 'is not a track of this organization')
}

/** Inserts tracks from `position` on. A track that has just been deleted is left out. */
function insertEntries(context: Context, playlist_id: string, track_ids: string[], position: SQL, signed: SQL) {
  // The id of the first entry is that of the request, so a request cannot insert its entries twice.
  const entries = track_ids.map((track_id, at) => ({
    id: at === 0 ? rowId(context) : newId(),
    track_id,
    at: (at + 1) / (track_ids.length + 1),
  }))
  return insertFrom(
    context.db,
    playlistTracks,
    {
      id: sql`value ->> 'id'`,
      playlist_id,
      track_id: sql`value ->> 'track_id'`,
      position: sql`${position} - 1 + (value ->> 'at')`,
    },
    sql`json_each(${JSON.stringify(entries)}) where ${signed} and exists (
      select 1 from tracks, collections where tracks.id = value ->> 'track_id' and collections.id = collection_id)`,
  )
}

/** Replaces all tracks. If two calls run concurrently, the result is that of one of them and never a mixture. */
export async function replaceTracks(
  context: Context,
  playlist_id: string,
  if_match: string | undefined,
  track_ids: string[],
) {
  await checkTracks(context, track_ids)
  const { db } = context
  await changeTracks(context, playlist_id, if_match, (signed) => [
    db.delete(playlistTracks).where(and(eq(playlistTracks.playlist_id, playlist_id), signed)),
    insertEntries(context, playlist_id, track_ids, sql`0`, signed),
  ])
}

/** Inserts tracks before the track at `position`; if the playlist is shorter, inserts them at the end. */
export async function insertTracks(
  context: Context,
  playlist_id: string,
  if_match: string | undefined,
  track_ids: string[],
  position = MAX_PLAYLIST_TRACKS,
) {
  await checkTracks(context, track_ids)
  const fits = sql`track_count + ${track_ids.length} <= ${MAX_PLAYLIST_TRACKS}`
  const isChanged = await changeTracks(
    context,
    playlist_id,
    if_match,
    (signed) => [insertEntries(context, playlist_id, track_ids, sql`${position}`, signed)],
    fits,
  )
  if (!isChanged) {
    const message = `A playlist holds at most ${MAX_PLAYLIST_TRACKS} tracks`
    throw new ApiError('playlist_full', message)
  }
}

const isEntry = (playlist_id: string, id: string) =>
  and(eq(playlistTracks.id, id), eq(playlistTracks.playlist_id, playlist_id))!

/** Whether the playlist has this entry at the time of the batch. */
const hasEntry = (playlist_id: string, id: string) =>
  sql`exists (select 1 from playlist_tracks where ${isEntry(playlist_id, id)})`

/** Moves a track so that its new position is `position`, or the end if the playlist is shorter. */
export async function moveTrack(
  context: Context,
  playlist_id: string,
  if_match: string | undefined,
  id: string,
  position: number,
) {
  const { db } = context
  // A track that moves down is placed after the track that has this position now; a track that moves up is placed before it.
  const target = sql`case when position < ${position} then ${position} + 0.5 else ${position} - 0.5 end`
  const isChanged = await changeTracks(
    context,
    playlist_id,
    if_match,
    (signed) => [
      db
        .update(playlistTracks)
        .set({ position: target })
        .where(and(isEntry(playlist_id, id), signed)),
    ],
    hasEntry(playlist_id, id),
  )
  if (!isChanged) throw notFound('playlist track')
}

/** Removes an entry and renumbers the remaining entries. */
export async function removeTrack(context: Context, playlist_id: string, if_match: string | undefined, id: string) {
  const { db } = context
  const isChanged = await changeTracks(
    context,
    playlist_id,
    if_match,
    (signed) => [db.delete(playlistTracks).where(and(isEntry(playlist_id, id), signed))],
    hasEntry(playlist_id, id),
  )
  if (!isChanged) throw notFound('playlist track')
}

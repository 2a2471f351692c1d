import { and, eq, getTableColumns, sql } from 'drizzle-orm'

import { collectionPrefixes } from '../../adapters/bucket/media.ts'
import { rowId } from '../../adapters/crypto/seed.ts'
import { batchesWith, inList, insertOnce, runBatch } from '../../adapters/db/database.ts'
import { deleteHiddenEntries } from '../../adapters/db/playlist_order.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { playlists, playlistTracks } from '../../adapters/db/schema/library.ts'
import { foldedOf, foldedUpdate } from '../../adapters/db/search.ts'
import type { Context, Handlers } from '../../context.ts'
import type { playlistOperations } from '../../contract/playlist.ts'
import { notFound } from '../../core/errors.ts'
import { inTrash, purgeJobs } from '../../domain/cleanup/purge.ts'
import { sendJob } from '../../domain/jobs.ts'
import { listRows } from '../list/page.ts'
import { ownCover } from './cover.ts'
import { withPlaylistParts } from './included_parts.ts'
import { playlistCovers, toPlaylistCovers } from './list_items.ts'
import { moveToTrash } from './move_to_trash.ts'
import { findOrganization, organizationIn, organizationQuery } from './organization.ts'
import { insertTracks, listTracks, moveTrack, removeTrack, replaceTracks } from './playlist_track.ts'
import { withInherited } from './resource_fields.ts'
import { coverUpload } from './upload_handle.ts'

type PlaylistRow = typeof playlists.$inferSelect

const isOwnedByCaller = ({ principal }: Context, id: string) =>
  and(eq(playlists.id, id), eq(playlists.organization_id, principal.organization_id))

/** Returns a playlist of the caller's organization, or throws 404. */
export async function findPlaylist(context: Context, id: string): Promise<PlaylistRow> {
  const row = await context.db.select().from(playlists).where(isOwnedByCaller(context, id)).get()
  if (!row) throw notFound('playlist')
  return row
}

async function showPlaylist(context: Context, id: string) {
  const playlist = withInherited(await findPlaylist(context, id), await findOrganization(context))
  return { playlist_id: playlist.id, playlist }
}

/** Returns the row as the owner of a cover. Each playlist has a storage folder for its cover, at the same level as the folders of collections. */
const coverOf = (row: PlaylistRow) => ({ ...row, collection_id: row.id })

export const playlistHandlers: Handlers<typeof playlistOperations> = {
  async listPlaylists({ query: { limit, offset, after, q, sort = '-created_at', include, ...filters } }, context) {
    const { organization_id } = context.principal
    const batches = batchesWith(context.db, organizationQuery(context))
    const list = { kind: 'playlists' as const, organization_id, q, filters, sort, after }
    const { rows, ...counts } = await listRows(batches, list, getTableColumns(playlists), { limit, offset })
    const organization = organizationIn(batches.firstRows())
    const shown = rows.map((row) => withInherited(row, organization))
    return { ...counts, playlists: await withPlaylistParts(context, include, shown, rows) }
  },

  async createPlaylist({ body }, context) {
    const { db, now } = context
    const organization = await findOrganization(context)
    const id = rowId(context)
    const insert = db
      .insert(playlists)
      .values({
        metadata: {},
        theme: [],
        ...body,
        cover_colors: [],
        folded: foldedOf('playlists', body),
        id,
        organization_id: organization.id,
        seq: sql`(select coalesce(max(seq), 0) + 1 from playlists where organization_id = ${organization.id})`,
        created_at: now,
      })
      .returning()
    const event = recordEvents(context, 'playlist.created', sql`playlists where id = ${id}`, { is_restored: false })
    const row = (await insertOnce(db, insert, [event], () => findPlaylist(context, id)))!
    return {
      playlist_id: id,
      playlist: withInherited(row, organization),
      playlist_cover_upload: await coverUpload(context, 'playlist', coverOf(row)),
    }
  },

  getPlaylist: ({ params }, context) => showPlaylist(context, params.playlist_id),

  async updatePlaylist({ params, body }, context) {
    let row = await findPlaylist(context, params.playlist_id)
    if (Object.keys(body).length > 0) {
      const values = { ...body, ...foldedUpdate('playlists', body), updated_at: context.now }
      const isOwned = isOwnedByCaller(context, row.id)
      const [, [updated]] = await context.db.batch([
        recordEvents(context, 'playlist.updated', sql`playlists where ${isOwned}`, { changed: Object.keys(body) }),
        context.db.update(playlists).set(values).where(isOwned).returning(),
      ])
      if (!updated) throw notFound('playlist')
      row = updated
    }
    return { playlist_id: row.id, playlist: withInherited(row, await findOrganization(context)) }
  },

  async deletePlaylist({ params, query }, context) {
    const { db, principal } = context
    const { playlist } = await showPlaylist(context, params.playlist_id)
    if (query.trash === 'true') {
      await moveToTrash(context, 'playlist', playlist.id)
      return { playlist_id: playlist.id, deleted_playlist: playlist }
    }
    const prefixes = collectionPrefixes(principal.organization_id, playlist.id)
    const { purge, inserts } = purgeJobs(context, principal.organization_id, [{ id: playlist.id, prefixes }])
    const isOwned = isOwnedByCaller(context, playlist.id)
    const deletedRow = db.delete(playlists).where(isOwned).returning({ id: playlists.id })
    const resultOf = await runBatch(db, [
      ...inserts,
      recordEvents(context, 'playlist.deleted', sql`playlists where ${isOwned}`, { is_trashed: false }),
      deleteHiddenEntries(db, playlist.id, sql`not ${inTrash(playlist.id)}`),
      db.delete(playlistTracks).where(eq(playlistTracks.playlist_id, playlist.id)),
      deletedRow,
    ])
    await sendJob(context, purge)
    if (resultOf(deletedRow).length === 0) throw notFound('playlist')
    return { playlist_id: playlist.id, deleted_playlist: playlist }
  },

  async getPlaylistCover({ params }, context) {
    const row = await findPlaylist(context, params.playlist_id)
    const { design } = toPlaylistCovers(await playlistCovers(context, inList([row.id]))).get(row.id)!
    return { playlist_id: row.id, cover_image: await ownCover(context, { ...row, design }) }
  },

  async createPlaylistCover({ params }, context) {
    const row = await findPlaylist(context, params.playlist_id)
    return {
      ...(await showPlaylist(context, row.id)),
      playlist_cover_upload: await coverUpload(context, 'playlist', coverOf(row)),
    }
  },

  listPlaylistTracks: ({ params, query }, context) => listTracks(context, params.playlist_id, query),

  async replacePlaylistTracks({ params, headers, body }, context) {
    await findPlaylist(context, params.playlist_id)
    await replaceTracks(context, params.playlist_id, headers['if-match'], body.track_ids)
    return showPlaylist(context, params.playlist_id)
  },

  async insertPlaylistTracks({ params, headers, body }, context) {
    await findPlaylist(context, params.playlist_id)
    await insertTracks(context, params.playlist_id, headers['if-match'], body.track_ids, body.position)
    return showPlaylist(context, params.playlist_id)
  },

  async movePlaylistTrack({ params, headers, body }, context) {
    await findPlaylist(context, params.playlist_id)
    await moveTrack(context, params.playlist_id, headers['if-match'], params.playlist_track_id, body.position)
    return showPlaylist(context, params.playlist_id)
  },

  async removePlaylistTrack({ params, headers }, context) {
    await findPlaylist(context, params.playlist_id)
    await removeTrack(context, params.playlist_id, headers['if-match'], params.playlist_track_id)
    return showPlaylist(context, params.playlist_id)
  },
}

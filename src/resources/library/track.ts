import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'

import { findFile, nextUploadPath } from '../../adapters/bucket/media.ts'
import { folderOf, trackPath } from '../../adapters/bucket/track_paths.ts'
import { randomBase62 } from '../../adapters/crypto/id.ts'
import { rowId } from '../../adapters/crypto/seed.ts'
import { batchesWith, insertFrom, insertOnce, runBatch } from '../../adapters/db/database.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { retrying } from '../../adapters/db/retry.ts'
import { isInCollection, tracks } from '../../adapters/db/schema/library.ts'
import { foldedOf } from '../../adapters/db/search.ts'
import type { Context, Handlers } from '../../context.ts'
import { MULTIPART_TTL, UPLOAD_TTL } from '../../contract/facts.ts'
import { Track, type trackOperations } from '../../contract/track.ts'
import type { TrackCreate } from '../../contract/track_create.ts'
import type { trackListOperations } from '../../contract/track_list.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { requireReplace } from '../../core/may.ts'
import { tagsOfFile } from '../../domain/edited_tags.ts'
import { discardReplaced, ingest } from '../../domain/ingest.ts'
import { quotaExceeded, reportLevels, reserveUpload } from '../../domain/quota.ts'
import { prepareImport, type Source, sourceOf } from '../../domain/source_url.ts'
import { startPurge } from '../../domain/start_purge.ts'
import { queuePosition } from '../../domain/transcode/queue_position.ts'
import { noActiveJob, startTranscode } from '../../domain/transcode/start.ts'
import { namesOf, safeFileName } from '../../domain/upload_handles.ts'
import { countTracks } from '../list/count_tracks.ts'
import { find } from '../list/filtered_list.ts'
import { columnsFor, toListedTrack, toTracks, trackColumns, type TrackRow } from './list_items.ts'
import { moveToTrash } from './move_to_trash.ts'
import { shownChapters, versionOf } from './resource_fields.ts'
import { deleteStatements } from './track_delete.ts'
import { findTags, hasTagsText, hasUpdate, updateOf, updateSet } from './track_update.ts'
import {
  audioUpload,
  bytesOf,
  checkUploadHints,
  coverUpload,
  type UploadHints,
  firstUpload,
  uploadState,
  addHandle,
} from './upload_handle.ts'
import { expectedVersion, hasVersion, nextVersion, versionMismatch } from './version.ts'

/** Returns a row as the API shows it. */
export const toTrack = (row: TrackRow) => ({
  ...toListedTrack(row),
  info: { ...row.info, ...(row.progress !== null && { progress: row.progress }) },
  file_tags: tagsOfFile(row),
  edited_tags: Object.keys(row.edited_tags ?? {}),
  chapters: shownChapters(row.chapters),
})

/** SQL condition for a track of the caller's organization. */
export const isOwnedByCaller = ({ principal }: Context, id: string) =>
  and(eq(tracks.id, id), eq(tracks.organization_id, principal.organization_id), isInCollection)

/** Returns a track of the caller's organization, or throws 404. */
export async function findTrack(context: Context, id: string): Promise<TrackRow> {
  const row = await context.db.select(trackColumns).from(tracks).where(isOwnedByCaller(context, id)).get()
  if (!row) throw notFound('track')
  return row
}

/** Returns the track after checking whether its upload has arrived (docs/architecture.md#how-audio-flows). */
export const refreshTrack = async (context: Context, id: string) => refresh(context, await findTrack(context, id))

/**
 * Like `refreshTrack`, but for a row. The values in `set`, which the caller has just written, are returned even if others have changed them since.
 */
export async function refresh(context: Context, row: TrackRow, set: Partial<TrackRow> = {}) {
  const isNew = row.awaiting_upload && (await ingest(context, row))
  const track = toTrack(isNew ? { ...(await findTrack(context, row.id)), ...set } : row)
  if (track.progress !== 0 || !track.job_id) return track
  const waiting = await queuePosition(context, track.job_id)
  return waiting ? { ...track, info: { ...track.info, waiting } } : track
}

interface Write {
  set: object
  changed: string[]
  isDone: (row: TrackRow) => boolean
  /** A further condition. If only this one does not hold, the result is that of `retry`. */
  isCurrent?: SQL
  retry?: () => Promise<TrackRow>
}

/**
 * Writes columns of a track, unless it has another version than `If-Match`. Returns the new row, or the current one if `isDone` says that it already has the
 * values.
 */
export async function writeTrack(
  context: Context,
  id: string,
  if_match: string | undefined,
  { set, changed, isDone, isCurrent, retry }: Write,
): Promise<TrackRow> {
  const { db, now } = context
  const version = expectedVersion(if_match)
  const isExpected = and(isOwnedByCaller(context, id), hasVersion(version), isCurrent)
  const [, [row]] = await db.batch([
    recordEvents(context, 'track.updated', sql`tracks where ${isExpected}`, { changed }),
    db
      .update(tracks)
      .set({ ...set, updated_at: nextVersion(now) })
      .where(isExpected)
      .returning(trackColumns),
  ])
  if (row) return row
  const current = await findTrack(context, id)
  if (isDone(current)) return current
  if (retry && (version === undefined || version === versionOf(current))) return retry()
  throw versionMismatch('track', toTrack(current), Track)
}

export const notUploaded = (message = 'This track has no file yet; upload one first') =>
  new ApiError('track_not_uploaded', message)

/** Returns a track as the API shows it. */
export const showTrack = async (context: Context, id: string) => toTrack(await findTrack(context, id))

type NewTrack = Omit<TrackCreate, 'source_url'> & {
  upload_session_id?: string | null | undefined
}

/**
 * Adds a track at the end of its collection, and returns it with its upload handles. `api_key_id` is the uploader key whose quota the track takes; `source`
 * is the file that is fetched for it. Throws 404 when the collection does not exist, and 409 when the file exceeds a quota.
 */
export async function insertTrack(
  context: Context,
  { file_size, content_type, ...values }: NewTrack,
  api_key_id: string | null = null,
  source: Source | null = null,
) {
  const { db, principal, now } = context
  checkUploadHints(context.env, { file_size, content_type })
  const identity = {
    id: rowId(context),
    organization_id: principal.organization_id,
    collection_id: values.collection_id,
    folder_id: null,
  }
  const collection = sql`collections where id = ${values.collection_id} and organization_id = ${principal.organization_id}`
  const upload = {
    organization_id: principal.organization_id,
    track_id: identity.id,
    // The size of a file that is fetched is checked when it has arrived, so the largest size is not reserved for it.
    bytes: source ? (file_size ?? 1) : bytesOf(context.env, { file_size }),
    upload_session_id: values.upload_session_id,
    api_key_id,
    isNew: true,
  }
  const expires_at = now + (source ? MULTIPART_TTL : UPLOAD_TTL) * 1000
  const { statement, isReserved, changesLevel } = reserveUpload(context, upload, expires_at, collection)
  const started = source && (await prepareImport(context, identity, source))
  const file_name = safeFileName(values.file_name)
  const insert = insertFrom(
    db,
    tracks,
    {
      ...values,
      ...identity,
      metadata: values.metadata ?? {},
      index: randomBase62(12),
      file_name,
      file_name_original: values.file_name,
      folded: foldedOf('tracks', { ...values, file_name }),
      order: sql`coalesce((select max("order") from tracks where collection_id = collections.id), 0) + 1`,
      cover_colors: [],
      status: 'initializing',
      ...firstUpload(now),
      ...started?.columns,
      created_at: now,
      info: {},
    },
    sql`${collection} and ${isReserved}`,
  ).returning({ ...getTableColumns(tracks), changes_level: changesLevel })
  const event = recordEvents(context, 'track.created', sql`tracks where id = ${identity.id}`, { is_restored: false })
  const find = () =>
    db
      .select({ ...getTableColumns(tracks), changes_level: sql<number>`0` })
      .from(tracks)
      .where(isOwnedByCaller(context, identity.id))
      .get()
  const row = await insertOnce(db, insert, [event, ...(started?.statements ?? [])], find, [statement])
  if (!row) throw (await quotaExceeded(context, upload)) ?? notFound('collection')
  if (row.changes_level) await reportLevels(context, upload)
  await started?.wake()
  return {
    row,
    path: trackPath(row),
    track_upload: await audioUpload(context, row.upload_path, { file_size, content_type }),
    track_cover_upload: await trackCoverUpload(context, row),
  }
}

/**
 * Returns the upload handle for a track's cover. The cover is stored with the track's files, in a folder named after the track's index. It stays
 * there when the track moves to another collection.
 */
export const trackCoverUpload = (context: Context, row: TrackRow) =>
  coverUpload(context, 'track', { ...row, collection_id: `${folderOf(row)}/${row.index}` })

/**
 * Returns a new upload handle for a track's audio, which has its own path. Older handles remain valid until a file arrives at the new path
 * (docs/decisions/0063). Throws 403 if the track has a file that the caller may not replace.
 */
export async function renewUpload(
  context: Context,
  id: string,
  { file_name, ...facts }: UploadHints & { file_name?: string | undefined },
) {
  const { db, env, now } = context
  checkUploadHints(env, facts)
  const row = await findTrack(context, id)
  requireReplace(context.principal, row.source_path)
  const path = nextUploadPath(row, now)
  const handle = { path, expires_at: now + UPLOAD_TTL * 1000, ...namesOf({ file_name }) }
  const isOwned = sql`${isOwnedByCaller(context, id)}`
  const upload = { organization_id: row.organization_id, track_id: id, bytes: bytesOf(env, facts) }
  const reservation = reserveUpload(context, upload, handle.expires_at, sql`tracks where ${isOwned}`)
  const condition = sql`${isOwned} and ${reservation.isReserved}`
  const { statements, update } = addHandle(context, condition, handle)
  const resultOf = await retrying(() => runBatch(db, [reservation.statement, ...statements]))
  const [updated] = resultOf(update)
  if (!updated) throw (await quotaExceeded(context, upload)) ?? notFound('track')
  if (resultOf(reservation.statement)[0]?.changes_level) await reportLevels(context, upload)
  return { row: updated, track_upload: await audioUpload(context, path, facts) }
}

export const withId = <T extends { id: string }>(track: T) => ({ track_id: track.id, track })

export const trackHandlers: Handlers<typeof trackOperations & typeof trackListOperations> = {
  async listTracks({ query: { limit, offset, after, q, sort = '-created_at', include, ...filters } }, context) {
    const { organization_id } = context.principal
    const { status, ...others } = filters
    const isSummed = !q && !sort.endsWith('duration') && Object.values(others).every((value) => value === undefined)
    const total = isSummed ? countTracks(organization_id, status) : undefined
    const search = { kind: 'tracks' as const, organization_id, counted: null, q, filters, sort, after, total }
    const page = { limit, offset }
    const { rows, ...counts } = await find(batchesWith(context.db), search, columnsFor(include), page)
    return { ...counts, tracks: await toTracks(context, include, rows) }
  },

  async createTrack({ body }, context) {
    const source = sourceOf(context, body)
    const { source_url: _secret, ...values } = body
    const { row, track_upload, track_cover_upload } = await insertTrack(context, values, null, source)
    return { track_id: row.id, track: toTrack(row), track_upload, track_cover_upload }
  },

  async getTrack({ params }, context) {
    return withId(await refreshTrack(context, params.track_id))
  },

  async updateTrack({ params, headers, body }, context) {
    const update = updateOf(body)
    if (!update) return withId(await refreshTrack(context, params.track_id))
    const { columns, tags, changed } = update
    const isDone = (row: TrackRow) => hasUpdate(row, update)
    const write = async (): Promise<TrackRow> => {
      const before = tags ? await findTags(context, isOwnedByCaller(context, params.track_id)) : null
      // If another request sets tags in the meantime, the folded text has to be computed again.
      const race = before && { isCurrent: hasTagsText(before.tags_text), retry: write }
      const values = { set: updateSet(update, before), changed, isDone, ...race }
      return writeTrack(context, params.track_id, headers['if-match'], values)
    }
    const row = await write()
    return withId(await refresh(context, row, { ...columns, updated_at: row.updated_at }))
  },

  async deleteTrack({ params, query }, context) {
    const row = await findTrack(context, params.track_id)
    if (query.trash === 'true') {
      await moveToTrash(context, 'track', row.id)
      return { track_id: row.id, deleted_track: toTrack(row) }
    }
    const { statements, deletedTracks, purges } = deleteStatements(context, [row])
    const resultOf = await runBatch(context.db, statements)
    await startPurge(context, purges)
    if (resultOf(deletedTracks).length === 0) throw notFound('track')
    return { track_id: row.id, deleted_track: toTrack(row) }
  },

  async completeTrackUpload({ params }, context) {
    const track = await refreshTrack(context, params.track_id)
    const isReplaced = await discardReplaced(context, track)
    const shown = isReplaced ? await showTrack(context, track.id) : track
    return { ...withId(shown), upload: await uploadState(context, shown) }
  },

  async renewTrackUpload({ params, body }, context) {
    const { row, track_upload } = await renewUpload(context, params.track_id, body)
    return { track_id: row.id, track: toTrack(row), track_upload }
  },

  async reprocessTrack({ params }, context) {
    const row = await findTrack(context, params.track_id)
    // The size is read again, because the upload URL may have been used a second time.
    const source = await findFile(context.env, row.source_path)
    if (!source) throw notUploaded()
    // Since the row was read, a newer file may have become the source.
    await startTranscode(context, row, source, sql`${noActiveJob} and source_path = ${source.path}`)
    return { track_id: row.id, track: await showTrack(context, row.id) }
  },
}

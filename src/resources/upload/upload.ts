import { and, eq, gt, sql } from 'drizzle-orm'

import { rowId } from '../../adapters/crypto/seed.ts'
import { insertOnce, runBatch } from '../../adapters/db/database.ts'
import { uploadSessions } from '../../adapters/db/schema/library.ts'
import { multipartUploads } from '../../adapters/db/schema/work.ts'
import type { Context, Handlers } from '../../context.ts'
import { UPLOAD_TTL } from '../../contract/facts.ts'
import type { Quota } from '../../contract/quota.ts'
import type { uploadOperations } from '../../contract/upload.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { checkExpiry, timestamp } from '../../core/time.ts'
import { readQuotas } from '../../domain/quota.ts'
import { startPurge } from '../../domain/start_purge.ts'
import { mayReach } from '../keys/access.ts'
import { findCollection } from '../library/collection.ts'
import { findTrack, insertTrack, refreshTrack } from '../library/track.ts'
import { deleteStatements } from '../library/track_delete.ts'

/** Returns an upload session of the caller's organization that has not expired; returns an expired one only if `mayContinue` resolves to true. */
export async function findUploadSession(context: Context, id: string, mayContinue?: () => Promise<boolean>) {
  const session = await context.db
    .select()
    .from(uploadSessions)
    .where(and(eq(uploadSessions.id, id), eq(uploadSessions.organization_id, context.principal.organization_id)))
    .get()
  if (session && !(await mayReach(context, 'collection', session.collection_id))) throw notFound('upload session')
  if (session && session.expires_at <= context.now && (await mayContinue?.())) return session
  return checkExpiry('upload session', session, context.now)
}

type UploadSessionRow = Awaited<ReturnType<typeof findUploadSession>>

const uploaderKey = ({ principal }: Context) => (principal.kind === 'uploader' ? principal.api_key_id : null)

/** Returns the uploader key whose quota the tracks of a session take: that of the caller, or the one that created the session. */
const keyOfQuota = (context: Context, session: UploadSessionRow) => uploaderKey(context) ?? session.api_key_id

/** Returns the bytes of the quota that leaves the fewest, and the tracks of the quota that leaves the fewest. */
async function smallestQuota(context: Context, session: UploadSessionRow): Promise<Quota> {
  const { organization_id, id } = session
  const of = { organization_id, upload_session_id: id, api_key_id: keyOfQuota(context, session) }
  const quotas = await readQuotas(context, of)
  const left = (most: number | null, used: number) => (most === null ? Infinity : most - used)
  const smallest = (leftOf: (quota: Quota) => number) =>
    quotas.reduce((least, quota) => (leftOf(quota) < leftOf(least) ? quota : least))
  const byBytes = smallest((quota) => left(quota.max_bytes, quota.used_bytes))
  const byTracks = smallest((quota) => left(quota.max_tracks, quota.used_tracks))
  return {
    max_bytes: byBytes.max_bytes,
    used_bytes: byBytes.used_bytes,
    max_tracks: byTracks.max_tracks,
    used_tracks: byTracks.used_tracks,
    resets_at: byBytes.resets_at ?? byTracks.resets_at,
  }
}

/** Returns a track that an upload session created. */
export async function findSessionTrack(
  context: Context,
  { upload_session_id, track_id }: { upload_session_id: string; track_id: string },
) {
  const track = await findTrack(context, track_id)
  if (track.upload_session_id !== upload_session_id) throw notFound('track')
  return track
}

/** Whether a track's file was uploaded in parts or still is. Such an upload may take longer than the session. */
async function isMultipart({ db, now }: Context, track_id: string): Promise<boolean> {
  const { id, track_id: track, expires_at } = multipartUploads
  const row = await db
    .select({ id })
    .from(multipartUploads)
    .where(and(eq(track, track_id), gt(expires_at, now)))
    .get()
  return row !== undefined
}

/** A condition for tracks without an upload. A track whose file was rejected is excluded, so that its error can still be read. */
const NEVER_UPLOADED = sql`source_path is null and (status = 'initializing' or info ->> '$.error.code' = 'upload_expired')`

export const uploadHandlers: Handlers<typeof uploadOperations> = {
  async createUploadSession({ body }, context) {
    if (!(await mayReach(context, 'collection', body.collection_id))) throw notFound('collection')
    const collection = await findCollection(context, body.collection_id)
    const session = {
      metadata: {},
      ...body,
      api_key_id: uploaderKey(context),
      id: rowId(context),
      organization_id: collection.organization_id,
      expires_at: context.now + UPLOAD_TTL * 1000,
      created_at: context.now,
    }
    const insert = context.db.insert(uploadSessions).values(session).returning()
    const row = await insertOnce(context.db, insert, [], () =>
      context.db.select().from(uploadSessions).where(eq(uploadSessions.id, session.id)).get(),
    )
    const expires_at = timestamp(row!.expires_at)
    return {
      upload_session_id: session.id,
      upload_session: { id: session.id, collection_id: collection.id, expires_at },
      expires_at,
    }
  },

  async getUploadSession({ params }, context) {
    const session = await findUploadSession(context, params.upload_session_id)
    return {
      upload_session_id: session.id,
      upload_session: {
        ...session,
        organization_index: session.organization_index ?? '',
        expires_at: timestamp(session.expires_at),
      },
      quota: await smallestQuota(context, session),
    }
  },

  async createSessionTrack({ params, body: { title, ...body } }, context) {
    const session = await findUploadSession(context, params.upload_session_id)
    const track = {
      ...body,
      player_title: title,
      collection_id: session.collection_id,
      upload_session_id: session.id,
      creator_id: session.creator_id,
    }
    const api_key_id = keyOfQuota(context, session)
    const { row, path, track_upload, track_cover_upload } = await insertTrack(context, track, api_key_id)
    return {
      upload_session_id: session.id,
      track_id: row.id,
      track: { id: row.id, index: row.index, path },
      track_upload,
      track_cover_upload,
    }
  },

  async getSessionTrack({ params }, context) {
    const { upload_session_id, track_id } = params
    const session = await findUploadSession(context, upload_session_id, () => isMultipart(context, track_id))
    const track = await refreshTrack(context, params.track_id)
    if (track.upload_session_id !== session.id) throw notFound('track')
    const { progress = null, error = null } = track.info
    return { upload_session_id: session.id, track_id: track.id, track: { ...track, progress, error } }
  },

  async deleteSessionTrack({ params }, context) {
    const { db, now } = context
    const { upload_session_id, track_id } = params
    await findUploadSession(context, upload_session_id, async () => true)
    const track = await findSessionTrack(context, params)
    // The file may have arrived although its event has not.
    await refreshTrack(context, track_id)
    const { statements, deletedTracks, purges } = deleteStatements(context, [track], NEVER_UPLOADED)
    const resultOf = await runBatch(db, [
      ...statements,
      // The next sweep abandons the multipart upload of the track.
      db
        .update(multipartUploads)
        .set({ expires_at: now })
        .where(sql`track_id = ${track_id} and track_id not in (select id from tracks)`),
    ])
    if (resultOf(deletedTracks).length === 0) throw new ApiError('track_uploaded', 'This track has its file already')
    await startPurge(context, purges)
    return { upload_session_id, track_id, deleted_track: track }
  },
}

import { and, eq, type SQL, sql } from 'drizzle-orm'

import { signUrl } from '../../adapters/bucket/media.ts'
import { uploadSuffix } from '../../adapters/bucket/track_storage.ts'
import { signCoverGrant } from '../../adapters/crypto/token.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { tracks } from '../../adapters/db/schema/library.ts'
import { reservations } from '../../adapters/db/schema/reservations.ts'
import { foldedUpdate } from '../../adapters/db/search.ts'
import type { Context } from '../../context.ts'
import type { CoverOwner } from '../../contract/cover.ts'
import { UPLOAD_TTL } from '../../contract/facts.ts'
import type { UploadHandle } from '../../contract/media.ts'
import { ApiError } from '../../core/errors.ts'
import { requireReplace } from '../../core/may.ts'
import { timestamp } from '../../core/time.ts'
import { insertHandles } from '../../domain/upload_handles.ts'
import { nextVersion } from './version.ts'

/** Size and type of the file, as stated by the client. Both are signed into the URL, so that R2 refuses any other file. */
export interface UploadHints {
  file_size?: number | undefined
  content_type?: string | undefined
}

/** Throws 413 if the file would be rejected after its upload because of its size. */
export function checkUploadHints(env: Env, { file_size = 0 }: UploadHints): void {
  const limit = Number(env.MAX_UPLOAD_BYTES)
  if (file_size > limit) {
    const message = `must be at most ${limit} bytes, not ${file_size}`
    throw new ApiError('file_too_large', `file_size: ${message}`, { errors: [{ path: 'file_size', message }] })
  }
}

/** Returns the bytes that an upload handle reserves: the largest file that it accepts. */
export const bytesOf = (env: Env, { file_size }: UploadHints) => file_size ?? Number(env.MAX_UPLOAD_BYTES)

/** Returns the state of the upload to the newest upload URL of a track. */
export async function uploadState(
  { env, db, now }: Context,
  track: Pick<typeof tracks.$inferSelect, 'id' | 'organization_id' | 'awaiting_upload' | 'upload_expires_at'>,
) {
  const row = await db
    .select({ reserved: reservations.reserved, uploaded: reservations.uploaded })
    .from(reservations)
    .where(and(eq(reservations.organization_id, track.organization_id), eq(reservations.track_id, track.id)))
    .get()
  const { awaiting_upload, upload_expires_at } = track
  const isKnown = row && row.reserved > 0 && row.reserved < Number(env.MAX_UPLOAD_BYTES)
  const expected_size = awaiting_upload && isKnown ? row.reserved : null
  const body = expected_size === null ? 'the file' : `the file of ${expected_size} bytes`
  const hint =
    upload_expires_at > now
      ? `No file has arrived. Send a PUT to upload_url with ${body} as its body, without an Authorization header; it has arrived when the storage answers 200`
      : 'No file arrived before the upload URL expired. Request a new one'
  return {
    received_size: awaiting_upload ? null : row?.uploaded || null,
    expected_size,
    expires_at: timestamp(upload_expires_at),
    hint: awaiting_upload ? hint : null,
  }
}

/** Returns the handle with which a client sends audio directly to R2, with `PUT`. */
export async function audioUpload({ env, now }: Context, path: string, facts: UploadHints): Promise<UploadHandle> {
  const headers = {
    ...(facts.content_type && { 'content-type': facts.content_type }),
    ...(facts.file_size && { 'content-length': String(facts.file_size) }),
  }
  return handle('PUT', await signUrl(env, 'PUT', path, { expires_in: UPLOAD_TTL, headers }), now)
}

interface Owner {
  id: string
  organization_id: string
  collection_id: string
  cover_path: string | null
}

/**
 * Returns the handle with which a client sends a cover, with `POST`. R2 has no presigned POST requests, so the URL points to the Worker
 * (docs/architecture.md#covers). Throws 403 if the owner has a cover that the caller may not replace.
 */
export async function coverUpload(context: Context, owner: CoverOwner, row: Owner): Promise<UploadHandle> {
  requireReplace(context.principal, row.cover_path)
  const grant = {
    owner,
    owner_id: row.id,
    collection_id: row.collection_id,
    organization_id: row.organization_id,
  }
  const token = await signCoverGrant(context.env, grant, context.now + UPLOAD_TTL * 1000)
  return handle('POST', `${context.base_url}/v1/cover_upload/${token}`, context.now)
}

/** Returns an upload handle that is valid for an hour from now on (specification §8). */
const handle = (method: 'PUT' | 'POST', upload_url: string, now: number): UploadHandle => ({
  method,
  upload_url,
  ttl: UPLOAD_TTL,
  expires_at: timestamp(now + UPLOAD_TTL * 1000),
})

/** Returns the column values of a track that has a new upload handle. */
export const firstUpload = (now: number) => ({
  upload_expires_at: now + UPLOAD_TTL * 1000,
  next_check_at: now + 60_000,
  awaiting_upload: true,
})

type Handle = Parameters<typeof insertHandles>[2]

/**
 * Returns the statements that add a newer upload handle to the track that meets a condition. A track without a source becomes `initializing` again;
 * any other track can still be played under its current name until the new file is ready. `update` returns the row.
 */
export function addHandle(context: Context, condition: SQL, handle: Handle) {
  const { db, now } = context
  const { path, expires_at, file_name, file_name_original } = handle
  const track = sql`tracks where ${condition}`
  const ifEmpty = (value: SQL, column: string) => sql`iif(source_path is null, ${value}, ${sql.raw(column)})`
  const update = db
    .update(tracks)
    .set({
      ...firstUpload(now),
      // If two calls run concurrently, the call with the older handle may commit last, so the maximum is kept.
      upload_suffix: sql`max(upload_suffix, ${uploadSuffix(path)})`,
      upload_expires_at: sql`max(upload_expires_at, ${expires_at})`,
      status: ifEmpty(sql`'initializing'`, 'status'),
      info: ifEmpty(sql`'{}'`, 'info'),
      ...(file_name !== undefined && {
        file_name: ifEmpty(sql`${file_name}`, 'file_name'),
        file_name_original: ifEmpty(sql`${file_name_original}`, 'file_name_original'),
        folded: ifEmpty(foldedUpdate('tracks', { file_name }).folded!, 'folded'),
      }),
      updated_at: nextVersion(now),
    })
    .where(condition)
    .returning()
  const statements = [
    ...insertHandles(context, track, handle),
    // The upload of a new track's first file is not an update of the track.
    recordEvents(context, 'track.updated', sql`${track} and source_path is not null`, { changed: ['upload'] }),
    update,
  ]
  return { statements, update }
}

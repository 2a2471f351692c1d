import { type SQL, sql } from 'drizzle-orm'

import { signUrl } from '../../adapters/bucket/media.ts'
import { uploadSuffix } from '../../adapters/bucket/track_storage.ts'
import { signCoverGrant } from '../../adapters/crypto/token.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { tracks } from '../../adapters/db/schema/library.ts'
import { foldedUpdate } from '../../adapters/db/search.ts'
import type { Context } from '../../context.ts'
import type { CoverOwner } from '../../contract/cover.ts'
import { UPLOAD_TTL } from '../../contract/facts.ts'
import type { UploadHandle } from '../../contract/media.ts'
import { oneLine } from '../../contract/text.ts'
import { ApiError } from '../../core/errors.ts'
import { insertHandlePurges } from '../../pipeline/upload_handles.ts'

/** Size and type of the file, as the client gave them; signed into the URL, so that R2 refuses anything else. */
export interface UploadHints {
  file_size?: number | undefined
  content_type?: string | undefined
}

/** Throws 413 for a file that would be rejected after its upload. */
export function checkUploadHints(env: Env, { file_size = 0 }: UploadHints): void {
  const limit = Number(env.MAX_UPLOAD_BYTES)
  if (file_size > limit) {
    const message = `must be at most ${limit} bytes`
    throw new ApiError('file_too_large', `file_size ${message}`, [{ path: 'file_size', message }])
  }
}

/** The handle to `PUT` audio to R2 directly. */
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
}

/** The handle to `POST` a cover. R2 has no presigned POST, so the URL leads to the Worker (docs/architecture.md#covers). */
export async function coverUpload(context: Context, owner: CoverOwner, row: Owner): Promise<UploadHandle> {
  const grant = {
    owner,
    owner_id: row.id,
    collection_id: row.collection_id,
    organization_id: row.organization_id,
  }
  const token = await signCoverGrant(context.env, grant, context.now + UPLOAD_TTL * 1000)
  return handle('POST', `${context.base_url}/v1/cover_upload/${token}`, context.now)
}

/** An upload handle that is valid from now on for an hour (specification §8). */
const handle = (method: 'PUT' | 'POST', upload_url: string, now: number): UploadHandle => ({
  method,
  upload_url,
  ttl: UPLOAD_TTL,
  expires_at: new Date(now + UPLOAD_TTL * 1000).toISOString(),
})

/** The columns of a track with a new upload handle. */
export const firstUpload = (now: number) => ({
  upload_expires_at: now + UPLOAD_TTL * 1000,
  next_check_at: now + 60_000,
  awaiting_upload: true,
})

type Handle = Parameters<typeof insertHandlePurges>[3]

/**
 * Statements that add a newer upload handle to the track that meets a condition. A track without a source starts over; any other keeps
 * playing under its current name until the new file is ready. `update` returns the row.
 */
export function addHandle(context: Context, organization_id: string, condition: SQL, handle: Handle) {
  const { db, now } = context
  const { path, expires_at, file_name, file_name_original } = handle
  const track = sql`tracks where ${condition}`
  const ifEmpty = (value: SQL, column: string) => sql`iif(source_path is null, ${value}, ${sql.raw(column)})`
  const update = db
    .update(tracks)
    .set({
      ...firstUpload(now),
      // The older of two concurrent calls may commit last.
      upload_suffix: sql`max(upload_suffix, ${uploadSuffix(path)})`,
      upload_expires_at: sql`max(upload_expires_at, ${expires_at})`,
      status: ifEmpty(sql`'initializing'`, 'status'),
      info: ifEmpty(sql`'{}'`, 'info'),
      ...(file_name !== undefined && {
        file_name: ifEmpty(sql`${file_name}`, 'file_name'),
        file_name_original: ifEmpty(sql`${file_name_original}`, 'file_name_original'),
        folded: ifEmpty(foldedUpdate('tracks', { file_name }).folded!, 'folded'),
      }),
      updated_at: now,
    })
    .where(condition)
    .returning()
  const statements = [
    ...insertHandlePurges(context, organization_id, track, handle),
    // A new track's first file is not an update.
    recordEvents(context, 'track.updated', sql`${track} and source_path is not null`, { changed: ['upload'] }),
    update,
  ]
  return { statements, update }
}

/** A file's name columns; empty without a name. */
export const namesOf = ({ file_name }: { file_name?: string | undefined }) =>
  file_name === undefined ? {} : { file_name: safeFileName(file_name), file_name_original: file_name }

/** A single-line name without folders, for downloads. `file_name_original` keeps the client's name. */
export const safeFileName = (name: string) => oneLine(name.split(/[/\\]/).at(-1)!) || 'audio'

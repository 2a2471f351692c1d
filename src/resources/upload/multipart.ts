import { and, eq, sql } from 'drizzle-orm'

import {
  abortParts,
  createParts,
  deleteFiles,
  joinParts,
  nextUploadPath,
  partUrl,
} from '../../adapters/bucket/media.ts'
import { newId } from '../../adapters/crypto/id.ts'
import { insertFrom, insertOnce } from '../../adapters/db/database.ts'
import { uploadHandles } from '../../adapters/db/schema/upload_handles.ts'
import { multipartUploads, type MultipartRow } from '../../adapters/db/schema/work.ts'
import type { Context, Handlers } from '../../context.ts'
import {
  LARGE_FILE,
  LARGE_PART_SIZE,
  MAX_PARTS,
  MULTIPART_TTL,
  PART_SIZE,
  PART_URLS,
  UPLOAD_TTL,
} from '../../contract/facts.ts'
import type { MultipartUpload, multipartOperations, PartUpload } from '../../contract/multipart.ts'
import { ApiError, invalid, notFound } from '../../core/errors.ts'
import { isAllowed, requireReplace } from '../../core/may.ts'
import { timestamp } from '../../core/time.ts'
import { endMultipart } from '../../domain/cleanup/abandoned_uploads.ts'
import { discardReplaced } from '../../domain/ingest.ts'
import { quotaExceeded, reportLevels, reserveUpload } from '../../domain/quota.ts'
import { namesOf } from '../../domain/upload_handles.ts'
import { findTrack, refreshTrack } from '../library/track.ts'
import { addHandle, checkUploadHints } from '../library/upload_handle.ts'
import { findSessionTrack, findUploadSession } from './upload.ts'

const MIB = 1024 * 1024

/**
 * Returns the size of every part except the last, because R2 requires equal parts. Those of files below `LARGE_FILE` bytes are the smallest that R2 accepts,
 * because each part in flight can be lost. There are at most `MAX_PARTS` parts.
 */
export const partSizeOf = (file_size: number) =>
  file_size < LARGE_FILE ? PART_SIZE : Math.max(LARGE_PART_SIZE, Math.ceil(file_size / MAX_PARTS / MIB) * MIB)

type UploadRow = MultipartRow
type Part = { part_number: number; etag: string }

const partsOf = ({ parts }: UploadRow): Part[] =>
  Object.entries(parts)
    .map(([part_number, etag]) => ({ part_number: Number(part_number), etag }))
    .toSorted((a, b) => a.part_number - b.part_number)

const toPublic = (row: UploadRow): MultipartUpload => ({
  ...row,
  parts: partsOf(row),
  expires_at: timestamp(row.expires_at),
})

/** Returns the upload handles of some parts. Each URL is signed for the exact size of its part. */
async function handles({ env, now }: Context, row: UploadRow, numbers: number[]): Promise<PartUpload[]> {
  const ttl = Math.max(1, Math.min(UPLOAD_TTL, Math.floor((row.expires_at - now) / 1000)))
  return Promise.all(
    [...new Set(numbers)].map(async (part_number) => {
      const size = part_number < row.part_count ? row.part_size : row.file_size - row.part_size * (row.part_count - 1)
      const upload_url = await partUrl(env, row, part_number, { size, expires_in: ttl })
      return { part_number, size, method: 'PUT' as const, upload_url, ttl, expires_at: timestamp(now + ttl * 1000) }
    }),
  )
}

/** Returns the numbers of the first parts that have not been uploaded yet, at most `most` of them. */
const missingOf = ({ part_count, parts }: UploadRow, most: number) => {
  const missing: number[] = []
  for (let n = 1; n <= part_count && missing.length < most; n++) if (!(n in parts)) missing.push(n)
  return missing
}

interface MultipartAnswer {
  multipart_upload: MultipartUpload
  parts: PartUpload[]
}

interface MultipartRequest {
  file_name?: string | undefined
  file_size: number
  content_type?: string | undefined
  fingerprint?: string | undefined
}

/**
 * Starts a multipart upload, which gets a new path. An open upload of a different file is abandoned; one that is already complete remains valid until
 * the new one is complete. Throws 409 if the file exceeds a quota, and 403 if the caller may not replace the file of the track.
 */
async function start(
  context: Context,
  track: Awaited<ReturnType<typeof findTrack>>,
  body: MultipartRequest,
): Promise<MultipartAnswer> {
  const { db, env, now } = context
  checkUploadHints(env, body)
  requireReplace(context.principal, track.source_path)
  const track_id = track.id
  const previous = await db.select().from(multipartUploads).where(eq(multipartUploads.track_id, track_id)).get()
  const isSame =
    previous?.state === 'open' &&
    previous.expires_at > now &&
    body.fingerprint !== undefined &&
    previous.fingerprint === body.fingerprint &&
    previous.file_size === body.file_size
  if (isSame) return answer(context, previous, missingOf(previous, PART_URLS))
  if (previous) await endMultipart(context, previous)
  const path = nextUploadPath(track, now)
  const part_size = partSizeOf(body.file_size)
  const row: UploadRow = {
    id: newId(),
    organization_id: track.organization_id,
    track_id,
    path,
    upload_id: await createParts(env, path, body.content_type ? { contentType: body.content_type } : {}),
    file_size: body.file_size,
    part_size,
    part_count: Math.ceil(body.file_size / part_size),
    fingerprint: body.fingerprint ?? null,
    parts: {},
    state: 'open',
    expires_at: now + MULTIPART_TTL * 1000,
    created_at: now,
  }
  const isInserted = sql`id = ${track_id} and exists (select 1 from multipart_uploads where id = ${row.id})`
  const handle = { path, expires_at: row.expires_at, ...namesOf(body) }
  const upload = { organization_id: row.organization_id, track_id, bytes: row.file_size }
  const reservation = reserveUpload(context, upload, row.expires_at, sql`tracks where id = ${track_id}`)
  const insert = insertFrom(db, multipartUploads, row, sql`(select 1) where ${reservation.isReserved}`)
    .onConflictDoNothing()
    .returning({ id: multipartUploads.id, changes_level: reservation.changesLevel })
  const { statements } = addHandle(context, isInserted, handle)
  // Without a row, the upload in the bucket would stay until the bucket itself removes it.
  const find = () =>
    db
      .select({ id: multipartUploads.id, changes_level: sql<number>`0` })
      .from(multipartUploads)
      .where(eq(multipartUploads.id, row.id))
      .get()
  const inserted = await insertOnce(db, insert, statements, find, [reservation.statement])
  if (!inserted) {
    // A quota forbids the upload, or a concurrent request has started another one, so this upload is aborted.
    await abortParts(env, row)
    const error = await quotaExceeded(context, upload)
    if (error) throw error
    return start(context, await findTrack(context, track_id), body)
  }
  if (inserted.changes_level) await reportLevels(context, upload)
  return answer(context, row, missingOf(row, PART_URLS))
}

const answer = async (context: Context, row: UploadRow, numbers: number[]) => ({
  multipart_upload: toPublic(row),
  parts: await handles(context, row, numbers),
})

/** Returns a multipart upload of a track that belongs to the caller's organization. Throws 404 if it does not exist or has ended. */
async function find(context: Context, track_id: string, id: string): Promise<UploadRow> {
  const { db, principal, now } = context
  const isOwned = and(
    eq(multipartUploads.id, id),
    eq(multipartUploads.organization_id, principal.organization_id),
    sql`exists (select 1 from tracks, collections where tracks.id = track_id and collections.id = collection_id)`,
  )
  const row = await db.select().from(multipartUploads).where(isOwned).get()
  if (row?.track_id === track_id && row.expires_at > now) return row
  // If the track does not exist, the error is about the track.
  await findTrack(context, track_id)
  throw notFound('multipart upload')
}

/** Stores the parts that a request reports, and merges them with the parts that concurrent requests report. */
async function report(context: Context, row: UploadRow, done: Part[]): Promise<UploadRow> {
  const outside = done.find(({ part_number }) => part_number > row.part_count)
  if (outside) throw noSuchPart(row, 'done', outside.part_number)
  if (done.length === 0) return row
  const reportedParts = Object.fromEntries(done.map(({ part_number, etag }) => [part_number, etag.replaceAll('"', '')]))
  const updated = await context.db
    .update(multipartUploads)
    .set({ parts: sql`json_patch(parts, ${JSON.stringify(reportedParts)})` })
    .where(eq(multipartUploads.id, row.id))
    .returning()
    .get()
  if (!updated) throw notFound('multipart upload')
  return updated
}

const noSuchPart = ({ part_count }: UploadRow, path: 'done' | 'next', part_number: number) =>
  invalid(path, `there is no part ${part_number}; the upload has ${part_count}`)

function refuseComplete(row: UploadRow): void {
  if (row.state === 'complete') throw new ApiError('multipart_complete', 'This upload is complete already')
}

/** Throws 403 if the caller may not replace the file that the track has. The upload may have been started by another key, or before the file came. */
async function requireReplaceBy(context: Context, row: UploadRow): Promise<void> {
  if (isAllowed(context.principal, 'delete')) return
  const { source_path } = await findTrack(context, row.track_id)
  requireReplace(context.principal, source_path === row.path ? null : source_path)
}

async function sign(context: Context, row: UploadRow, { done, next }: { done: Part[]; next: number[] }) {
  refuseComplete(row)
  await requireReplaceBy(context, row)
  const outside = next.find((part_number) => part_number > row.part_count)
  if (outside !== undefined) throw noSuchPart(row, 'next', outside)
  return answer(context, await report(context, row, done), next)
}

async function complete(context: Context, row: UploadRow, done: Part[]) {
  if (row.state === 'open') {
    await requireReplaceBy(context, row)
    await join(context, await report(context, row, done))
  }
  const track = await refreshTrack(context, row.track_id)
  await discardReplaced(context, track)
  return { multipart_upload: toPublic({ ...row, state: 'complete' }), track }
}

/** R2 joins all parts that it is given, even if the set is incomplete, so the size is checked here. */
async function join(context: Context, row: UploadRow): Promise<void> {
  const { env, db } = context
  const parts = partsOf(row)
  const missing = missingOf(row, 1)
  if (missing.length > 0) {
    const count = row.part_count - parts.length
    throw new ApiError('parts_missing', `${count} of ${row.part_count} parts are missing, the first is ${missing[0]}`)
  }
  const size = await joinParts(env, row, parts)
  if (size === 'invalid') {
    // R2 does not say which part is wrong, so the client has to send all of them again.
    await db.update(multipartUploads).set({ parts: {} }).where(eq(multipartUploads.id, row.id))
    throw new ApiError('invalid_part', 'The storage does not have a part with such an ETag; send the parts again')
  }
  if (size === row.file_size && (await isCompleted(context, row))) return
  // The upload was abandoned, either by a concurrent call or by this statement.
  if (!(await endMultipart(context, row))) await deleteFiles(env, row.path)
  if (size === 'gone' || size === row.file_size) throw notFound('multipart upload')
  throw new ApiError('size_mismatch', `The parts have ${size} bytes together, not ${row.file_size}; begin again`)
}

/** Marks an upload as complete. Returns true if this call or another one completed it; false when it was abandoned. */
async function isCompleted({ db }: Context, { id, track_id, path }: UploadRow): Promise<boolean> {
  const [, abandoned] = await db.batch([
    db.update(multipartUploads).set({ state: 'complete' }).where(eq(multipartUploads.id, id)),
    db
      .select({ path: uploadHandles.path })
      .from(uploadHandles)
      .where(sql`track_id = ${track_id} and path = ${path} and state = 'abandoned'`),
  ])
  return abandoned.length === 0
}

async function cancel(context: Context, row: UploadRow) {
  refuseComplete(row)
  if (!(await endMultipart(context, row))) refuseComplete(await find(context, row.track_id, row.id))
  return { deleted_multipart_upload: toPublic(row) }
}

type Params = { upload_session_id: string; track_id: string; multipart_upload_id: string }

/** Like `find`, but for an uploader key: the track must have been created by the session. The session may have expired, but the upload must not. */
async function findInSession(context: Context, params: Params): Promise<UploadRow> {
  await findUploadSession(context, params.upload_session_id, async () => true)
  await findSessionTrack(context, params)
  return find(context, params.track_id, params.multipart_upload_id)
}

export const multipartHandlers: Handlers<typeof multipartOperations> = {
  createTrackMultipart: async ({ params, body }, context) =>
    start(context, await findTrack(context, params.track_id), body),
  signTrackParts: async ({ params, body }, context) =>
    sign(context, await find(context, params.track_id, params.multipart_upload_id), body),
  getTrackMultipart: async ({ params }, context) => ({
    multipart_upload: toPublic(await find(context, params.track_id, params.multipart_upload_id)),
  }),
  completeTrackMultipart: async ({ params, body }, context) =>
    complete(context, await find(context, params.track_id, params.multipart_upload_id), body.done),
  deleteTrackMultipart: async ({ params }, context) =>
    cancel(context, await find(context, params.track_id, params.multipart_upload_id)),

  async createSessionMultipart({ params, body }, context) {
    await findUploadSession(context, params.upload_session_id)
    const track = await findSessionTrack(context, params)
    // An uploader key can add files, but cannot replace any.
    if (track.source_path !== null) throw new ApiError('track_uploaded', 'This track has its file already')
    return start(context, track, body)
  },
  signSessionParts: async ({ params, body }, context) => sign(context, await findInSession(context, params), body),
  getSessionMultipart: async ({ params }, context) => ({
    multipart_upload: toPublic(await findInSession(context, params)),
  }),
  completeSessionMultipart: async ({ params, body }, context) =>
    complete(context, await findInSession(context, params), body.done),
  deleteSessionMultipart: async ({ params }, context) => cancel(context, await findInSession(context, params)),
}

import { and, eq, type SQL, sql } from 'drizzle-orm'

import { deleteFiles, findFile, findUploads, readObject } from '../adapters/bucket/media.ts'
import { runBatch } from '../adapters/db/database.ts'
import { tracks } from '../adapters/db/schema/library.ts'
import { type UploadHandleRow, uploadHandles } from '../adapters/db/schema/upload_handles.ts'
import { wakeIfSubscribed } from '../adapters/queue/wake_webhooks.ts'
import type { System } from '../context.ts'
import { sniff } from '../contract/sniff.ts'
import { HEAD_BYTES } from '../contract/text.ts'
import { DAY } from '../contract/time.ts'
import { purgeLaterFrom } from './cleanup/purge.ts'
import { countUploaded, fitsQuotas, quotaExceeded, type Upload } from './quota.ts'
import { isMadeFrom } from './stored_files.ts'
import { startTranscode } from './transcode/start.ts'
import { failure } from './transcode/track_job.ts'
import {
  CHECK_AFTER,
  discardUpload,
  findUnchecked,
  isHandleNeeded,
  isUnchecked,
  canTakeFile,
  replacedPaths,
  columnsOfTakenFile,
} from './upload_handles.ts'

/**
 * Checks whether an upload has arrived. R2's event, a request that reads the track, `upload_complete` and the sweep all run this check
 * (docs/architecture.md#how-audio-flows), so calls may overlap and repeat.
 */

type Waiting = Pick<
  typeof tracks.$inferSelect,
  'id' | 'organization_id' | 'status' | 'info' | 'source_path' | 'upload_path' | 'upload_expires_at' | 'created_at'
>

/** The `next_check_at` of a track that the sweep no longer checks. If a file arrives later, R2's event or a request that reads the track finds it. */
const NEVER = Number.MAX_SAFE_INTEGER

/** Maximum milliseconds between two checks of a handle, so that the row of a deleted track, which has a file name, soon goes. */
const MAX_PAUSE = 7 * DAY

/** Whether the track is still waiting for the upload that was checked. */
const waitsFor = (track: Waiting) =>
  and(eq(tracks.id, track.id), eq(tracks.awaiting_upload, true), eq(tracks.upload_path, track.upload_path))!

/**
 * Uses the newest valid file among those uploaded to the track's handles as its source. Fails the track when no valid file can arrive anymore.
 * Returns true when the row changed.
 */
export async function ingest(system: System, track: Waiting): Promise<boolean> {
  const arrived = await findUploads(system.env, track.upload_path, track.source_path)
  let newestFault: Fault | null = null
  for (const [at, source] of arrived.entries()) {
    let fault = await faultOf(system.env, source)
    if (!fault) {
      const isUsed = await useAsSource(system, track, source)
      if (!isUsed) fault = await quotaFault(system, uploadOf(track, source))
      if (!isUsed && !fault) continue
    }
    if (!fault) {
      // If the file at the newest handle is invalid, the next check rejects it: by then, the track has this valid file.
      for (const older of arrived.slice(at + 1)) await discardUpload(system, track.id, older)
      return true
    }
    if (source.path === track.upload_path) newestFault = fault
    // The file at an older handle is invalid, so it is deleted; the track continues to wait for the newest handle.
    else if (!(await findUnchecked(system, track.id, source.path))) await deleteFiles(system.env, source.path)
  }
  if (newestFault) return refuse(system, track, newestFault)
  if (arrived.length > 0) return false
  // The file was rejected earlier, but the worker crashed before it marked the track as failed.
  if (track.status === 'initializing' && track.info.error) return fail(system, track)
  return expire(system, track)
}

type Fault = ReturnType<typeof failure>

/** Returns why a file is rejected without decoding it; null if it has to be decoded first. */
async function faultOf(env: Env, { path, size }: { path: string; size: number }) {
  if (size === 0) return failure('empty_file', 'The uploaded file is empty (0 bytes)')
  const limit = Number(env.MAX_UPLOAD_BYTES)
  if (size > limit) {
    return failure('file_too_large', `The uploaded file has ${size} bytes; at most ${limit} are allowed`)
  }
  const read = (offset: number) => (offset < size ? readObject(env, path, offset, HEAD_BYTES) : new Uint8Array())
  const format = await sniff(async (offset) => read(offset), size)
  return 'code' in format ? failure(format.code, format.message) : null
}

const uploadOf = ({ id, organization_id }: Waiting, { size }: { size: number }): Upload => ({
  organization_id,
  track_id: id,
  bytes: size,
})

/** Returns why a file is rejected that is larger than its reservation; null if no quota forbids it. */
async function quotaFault(system: System, upload: Upload): Promise<Fault | null> {
  const error = await quotaExceeded(system, upload)
  return error && failure('quota_exceeded', error.message)
}

/** Uses a file as the track's source, unless the track has a newer one or a quota forbids it. Newer handles stay open. */
async function useAsSource(system: System, track: Waiting, source: { path: string; size: number }): Promise<boolean> {
  const { db } = system
  const upload = uploadOf(track, source)
  const canTake = sql`${canTakeFile(track.id, source.path)} and ${fitsQuotas(system, upload)}`
  return startTranscode(system, track, source, canTake, {
    sourceChange: ({ isOwner }) => ({
      set: columnsOfTakenFile(source.path),
      after: [
        countUploaded(system, upload, isOwner),
        // This update is a separate statement, because the trigger writes `track.uploaded` when the flag becomes false.
        db
          .update(tracks)
          .set({ awaiting_upload: true })
          .where(and(eq(tracks.id, track.id), isOwner, sql`upload_path > source_path`)),
        db
          .update(uploadHandles)
          .set({ state: 'used' })
          .where(sql`track_id = ${track.id} and path = ${source.path} and ${isOwner}`),
      ],
    }),
  })
}

/** Rejects the file at the newest handle. The reason is written before the file is deleted, because a retry would not find the file anymore. */
async function refuse(system: System, track: Waiting, fault: Fault): Promise<boolean> {
  const { db, env } = system
  const info = sql`json_patch(info, ${JSON.stringify(fault)})`
  const isRefused = and(waitsFor(track), sql`not ${isUnchecked(track.id, track.upload_path)}`)
  const rejected = await db.update(tracks).set({ info }).where(isRefused).returning({ id: tracks.id })
  if (rejected.length === 0) return false
  await deleteFiles(env, track.upload_path)
  return fail(system, track, { info })
}

/** Stops waiting for an upload. A track that has a valid file keeps it, even if the file became its source after `track` was read. */
async function fail({ db, now }: System, track: Waiting, values: { info?: SQL } = {}): Promise<boolean> {
  const status = sql`iif(source_path is null, 'failed', status)`
  const failed = await db
    .update(tracks)
    // An earlier end of the handle also ends its reservation, by a trigger.
    .set({
      awaiting_upload: false,
      status,
      progress: sql`iif(source_path is null, null, progress)`,
      upload_expires_at: sql`min(upload_expires_at, ${now})`,
      ...values,
    })
    .where(waitsFor(track))
    .returning({ id: tracks.id })
  return failed.length > 0
}

/** No file has arrived yet. The sweep checks at growing intervals, and a last time when the handle has expired. */
async function expire({ db, now }: System, track: Waiting): Promise<boolean> {
  if (track.upload_expires_at > now) {
    const pause = Math.max(60_000, (now - track.created_at) / 2)
    await db
      .update(tracks)
      .set({ next_check_at: Math.min(now + pause, track.upload_expires_at + 1000) })
      .where(and(waitsFor(track), sql`next_check_at <= ${now}`))
    return false
  }
  if (track.status !== 'initializing') return false
  const info = failure('upload_expired', 'No file arrived before the upload URL expired; ask for a new one')
  const expired = await db
    .update(tracks)
    .set({ status: 'failed', progress: null, info, next_check_at: NEVER })
    .where(and(waitsFor(track), eq(tracks.status, 'initializing')))
    .returning({ id: tracks.id })
  return expired.length > 0
}

/** Ingests an uploaded object. The track's id is part of its key: `uploads/{organization}/{collection}/{track}`, with or without a suffix. */
export async function ingestPath(system: System, path: string): Promise<void> {
  const id = /^uploads\/[^/]+\/[^/]+\/([0-9a-f-]{36})(\.\w+)?$/.exec(path)?.[1]
  const track = id && (await system.db.select().from(tracks).where(eq(tracks.id, id)).get())
  if (!track) return
  if (track.source_path !== null && path < track.source_path) await dropLate(system, track, path)
  else if (track.awaiting_upload && (await ingest(system, track))) await wakeIfSubscribed(system, track.organization_id)
}

/** Deletes a file that arrived late at an older handle, even if the handle's row was already deleted. */
async function dropLate(system: System, track: Pick<Waiting, 'id' | 'organization_id' | 'source_path'>, path: string) {
  if (await discardReplaced(system, track, path)) return
  const unused = sql`tracks where id = ${track.id} and source_path > ${path} and not ${isMadeFrom(path)}`
  await purgeLaterFrom(system, track.organization_id, sql`json_array(${path})`, unused)
}

/**
 * Deletes the files at handles that are older than the handle of the track's source; if `only` is set, only the file at this path. Returns true if a
 * file was deleted.
 */
export async function discardReplaced(
  system: System,
  { id, source_path }: Pick<Waiting, 'id' | 'source_path'>,
  only?: string,
): Promise<boolean> {
  // A path without a suffix belongs to the oldest handle.
  if (!source_path?.includes('.')) return false
  const paths = (await replacedPaths(system, id, source_path)).filter((path) => only === undefined || path === only)
  const files = await Promise.all(paths.map((path) => findFile(system.env, path)))
  const replacedFiles = files.filter((file) => file !== null)
  for (const file of replacedFiles) await discardUpload(system, id, file)
  return replacedFiles.length > 0
}

/** Checks uploads for which no event has arrived. Resolves to true if more of them may be waiting. */
export async function ingestWaiting(system: System, limit: number): Promise<boolean> {
  const { db, now } = system
  const waiting = await db
    .select()
    .from(tracks)
    .where(sql`awaiting_upload = 1 and next_check_at <= ${now}`)
    .orderBy(tracks.next_check_at)
    .limit(limit)
  for (const track of waiting) {
    const isExpired = track.upload_expires_at <= now && track.status !== 'initializing'
    if (!(await ingest(system, track)) && isExpired) {
      await db.update(tracks).set({ next_check_at: NEVER }).where(waitsFor(track))
    }
  }
  return waiting.length === limit
}

/** Selects the upload handles that are due for a check. */
export const dueHandles = (now: number) => sql`upload_handles where check_at <= ${now}`

/** Checks upload handles whose URLs have expired. Resolves to true if more of them may be due. */
export async function checkHandles(system: System, limit: number): Promise<boolean> {
  const { db, now } = system
  const due = await db
    .select()
    .from(uploadHandles)
    .where(sql`check_at <= ${now}`)
    .orderBy(uploadHandles.check_at)
    .limit(limit)
  const errors: unknown[] = []
  for (const handle of due) await checkHandle(system, handle).catch((error: unknown) => errors.push(error))
  // The others were checked first, because the next sweep starts with the same handle.
  if (errors.length > 0) throw errors[0]
  return due.length === limit
}

/**
 * Uses the file at a handle if every check before has missed it, or deletes a file that cannot be used. Then deletes the handle, or checks it again later if
 * it is still needed or a bucket lock rule protects the file.
 */
async function checkHandle(system: System, { track_id, path, expires_at }: UploadHandleRow): Promise<void> {
  const { db, env, now } = system
  const track = await db.select().from(tracks).where(eq(tracks.id, track_id)).get()
  if (track?.awaiting_upload) await ingest(system, track)
  const file = await findFile(env, path)
  const isDone = !file || (await discardUpload(system, track_id, file))
  const isHandle = and(eq(uploadHandles.track_id, track_id), eq(uploadHandles.path, path))
  await runBatch(db, [
    ...(isDone ? [db.delete(uploadHandles).where(sql`${isHandle} and not ${isHandleNeeded(track_id, path)}`)] : []),
    db
      .update(uploadHandles)
      .set({ check_at: now + Math.min(Math.max(CHECK_AFTER, now - expires_at), MAX_PAUSE) })
      .where(isHandle),
  ])
}

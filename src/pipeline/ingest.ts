import { and, eq, type SQL, sql } from 'drizzle-orm'

import { findFile, findUploads, readObject } from '../adapters/bucket/media.ts'
import { uploadSuffix } from '../adapters/bucket/track_storage.ts'
import { tracks } from '../adapters/db/schema/library.ts'
import { trash } from '../adapters/db/schema/trash.ts'
import { jobs } from '../adapters/db/schema/work.ts'
import type { System } from '../context.ts'
import { sniff } from '../contract/sniff.ts'
import { HEAD_BYTES } from '../contract/text.ts'
import { purgeLaterFrom } from './cleanup/purge.ts'
import { DONE, endJob, type Job, type Outcome } from './jobs.ts'
import { isMadeFrom } from './stored_files.ts'
import { startTranscode } from './transcode/start.ts'
import { failure } from './transcode/track_job.ts'
import {
  discardUpload,
  findUnchecked,
  isUnchecked,
  canTakeFile,
  replacedPaths,
  columnsOfTakenFile,
} from './upload_handles.ts'
import { wakeIfSubscribed } from './webhooks/due.ts'

/**
 * Checks whether an upload has arrived. Called by R2's event, by reading the track, by `upload_complete` and by the sweep
 * (docs/architecture.md#how-audio-flows); calls may overlap and repeat.
 */

type Waiting = Pick<
  typeof tracks.$inferSelect,
  'id' | 'organization_id' | 'status' | 'info' | 'source_path' | 'upload_path' | 'upload_expires_at' | 'created_at'
>

/** The sweep stops checking; late files are still found by R2's event or by reading the track. */
const NEVER = Number.MAX_SAFE_INTEGER

/** Seconds between two checks of a handle whose track is in the trash: the longest delay of a message (Queues, Limits). */
const LATER = 12 * 3600

/** Whether the track still waits for the upload that was checked. */
const waitsFor = (track: Waiting) =>
  and(eq(tracks.id, track.id), eq(tracks.awaiting_upload, true), eq(tracks.upload_path, track.upload_path))!

/**
 * Takes the file of the newest upload handle that has a valid one, or fails the track when none can arrive anymore. Returns true when the
 * row changed.
 */
export async function ingest(system: System, track: Waiting): Promise<boolean> {
  const arrived = await findUploads(system.env, track.upload_path, track.source_path)
  let newestFault: Fault | null = null
  for (const [at, source] of arrived.entries()) {
    const fault = await faultOf(system.env, source)
    if (!fault) {
      if (!(await useAsSource(system, track, source))) continue
      // A bad file at the newest handle is rejected by the next check, after the track has this one.
      for (const older of arrived.slice(at + 1)) await discardUpload(system, track.id, older)
      return true
    }
    if (source.path === track.upload_path) newestFault = fault
    // The newest handle stays open.
    else if (!(await findUnchecked(system, track.id, source.path))) await system.env.MEDIA.delete(source.path)
  }
  if (newestFault) return refuse(system, track, newestFault)
  if (arrived.length > 0) return false
  // Rejected earlier, but the worker died before it marked the track as failed.
  if (track.status === 'initializing' && track.info.error) return fail(system, track)
  return expire(system, track)
}

type Fault = ReturnType<typeof failure>

/** Why a file is rejected without decoding; null when it has to be decoded. */
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

/** Makes a file the track's source, unless the track has a newer one. Newer handles stay open. */
async function useAsSource(system: System, track: Waiting, source: { path: string; size: number }): Promise<boolean> {
  const { db } = system
  return startTranscode(system, track, source, canTakeFile(track.id, source.path), {
    sourceChange: ({ isOwner }) => ({
      set: columnsOfTakenFile(source.path),
      after: [
        // In a separate statement, because the trigger writes `track.uploaded` when the flag falls.
        db
          .update(tracks)
          .set({ awaiting_upload: true })
          .where(and(eq(tracks.id, track.id), isOwner, sql`upload_path > source_path`)),
        // The track's row now names the path.
        db
          .update(jobs)
          .set({ state: 'done' })
          .where(and(eq(jobs.id, source.path), isOwner)),
      ],
    }),
  })
}

/** Rejects the file of the newest handle. The reason is written before the file is deleted, because a retry could not find the file. */
async function refuse(system: System, track: Waiting, fault: Fault): Promise<boolean> {
  const { db, env } = system
  const info = sql`json_patch(info, ${JSON.stringify(fault)})`
  const isRefused = and(waitsFor(track), sql`not ${isUnchecked(track.id, track.upload_path)}`)
  const rejected = await db.update(tracks).set({ info }).where(isRefused).returning({ id: tracks.id })
  if (rejected.length === 0) return false
  await env.MEDIA.delete(track.upload_path)
  return fail(system, track, { info })
}

/** Stops waiting for an upload. A track with a valid file keeps it, including one taken after `track` was read. */
async function fail({ db }: System, track: Waiting, values: { info?: SQL } = {}): Promise<boolean> {
  const status = sql`iif(source_path is null, 'failed', status)`
  const failed = await db
    .update(tracks)
    .set({ awaiting_upload: false, status, ...values })
    .where(waitsFor(track))
    .returning({ id: tracks.id })
  return failed.length > 0
}

/** No file yet: the sweep checks at growing intervals, and a last time when the handle has expired. */
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
    .set({ status: 'failed', info, next_check_at: NEVER })
    .where(and(waitsFor(track), eq(tracks.status, 'initializing')))
    .returning({ id: tracks.id })
  return expired.length > 0
}

/** Ingests an uploaded object. Its key names the track: `uploads/{organization}/{collection}/{track}` with or without a suffix. */
export async function ingestPath(system: System, path: string): Promise<void> {
  const id = /^uploads\/[^/]+\/[^/]+\/([0-9a-f-]{36})(\.\w+)?$/.exec(path)?.[1]
  const track = id && (await system.db.select().from(tracks).where(eq(tracks.id, id)).get())
  if (!track) return
  if (track.source_path !== null && path < track.source_path) await dropLate(system, track, path)
  else if (track.awaiting_upload && (await ingest(system, track))) await wakeIfSubscribed(system, track.organization_id)
}

/** Deletes a late file of an older handle, even if the handle's purge job has already run. */
async function dropLate(system: System, track: Pick<Waiting, 'id' | 'organization_id' | 'source_path'>, path: string) {
  if (await discardReplaced(system, track, path)) return
  const unused = sql`tracks where id = ${track.id} and source_path > ${path} and not ${isMadeFrom(path)}`
  await purgeLaterFrom(system, track.organization_id, sql`json_array(${path})`, unused)
}

/** Deletes the files of handles older than that of the track's source, or only the file at path `only`. Returns true if there was one. */
export async function discardReplaced(
  system: System,
  { id, source_path }: Pick<Waiting, 'id' | 'source_path'>,
  only?: string,
): Promise<boolean> {
  // A path without a suffix belongs to the oldest handle.
  if (!source_path?.includes('.')) return false
  const paths = (await replacedPaths(system, source_path)).filter((path) => only === undefined || path === only)
  const files = await Promise.all(paths.map((path) => findFile(system.env, path)))
  const replacedFiles = files.filter((file) => file !== null)
  for (const file of replacedFiles) await discardUpload(system, id, file)
  return replacedFiles.length > 0
}

/** Runs the purge job of an upload handle after its URLs have expired: takes a file that was missed, or deletes it. */
export async function runUploadPurge(system: System, job: Job<'purge'>): Promise<Outcome> {
  const { db, env } = system
  const path = job.id
  const { track_id } = job.payload.upload!
  const find = () => db.select().from(tracks).where(eq(tracks.id, track_id)).get()
  const waitingTrack = await find()
  if (waitingTrack?.awaiting_upload) await ingest(system, waitingTrack)
  const track = await find()
  // A track in the trash may be restored.
  if (!track && (await db.select({ id: trash.id }).from(trash).where(eq(trash.id, track_id)).get())) {
    return { end: 'again', delay: LATER }
  }
  const isKept =
    track &&
    (track.source_path === path ||
      track.files?.source === uploadSuffix(path) ||
      (track.awaiting_upload && track.upload_path === path))
  const file = isKept ? null : await findFile(env, path)
  if (track && file) await discardUpload(system, track.id, file)
  else if (file) await env.MEDIA.delete(path)
  await endJob(system, job)
  return DONE
}

/** Polls for uploads whose event never arrived. */
export async function ingestWaiting(system: System, limit: number): Promise<void> {
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
}

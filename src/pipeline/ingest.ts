import { and, eq, isNull, or, sql } from 'drizzle-orm'

import { headObject, uploadPath } from '../adapters/media.ts'
import { jobs, tracks } from '../adapters/schema.ts'
import type { System } from '../context.ts'
import type { JobErrorCode } from '../contract/job.ts'
import { insertJob, sendJob } from './job.ts'

/**
 * Has the upload arrived? Reached by R2's event, by reading the track, by `upload_complete` and by the sweep (design.md §3.2);
 * all four may come at once or twice.
 */

type Waiting = Pick<
  typeof tracks.$inferSelect,
  'id' | 'organization_id' | 'collection_id' | 'status' | 'upload_expires_at' | 'created_at'
>

/** A faulty upload's reason, as `info.error` shows it. */
export const fault = (code: JobErrorCode | 'upload_expired', message: string, attempt = 0) => ({
  error: { code, message, attempt },
})

/** Waiting for its upload; also after the handle lapsed, because bytes may come late. */
const isWaiting = (id: string) =>
  and(eq(tracks.id, id), isNull(tracks.job_id), or(eq(tracks.status, 'initializing'), eq(tracks.status, 'failed')))

/** Moves the track on when its bytes are there (or will never come). True when something changed. */
export async function ingest(system: System, track: Waiting): Promise<boolean> {
  const { db, env, now } = system
  const source_path = uploadPath(track)
  const source = await headObject(env, source_path)
  if (!source) {
    if (track.status === 'failed') return false
    if (track.upload_expires_at > now) {
      await checkLater(system, track)
      return false
    }
    const message = 'No file arrived before the upload URL expired'
    return fail(system, track.id, fault('upload_expired', message))
  }
  if (source.size === 0)
    return fail(system, track.id, fault('empty_file', 'The uploaded file is empty (0 bytes)'), true)
  const limit = Number(env.MAX_UPLOAD_BYTES)
  if (source.size > limit) {
    await env.MEDIA.delete(source_path)
    const message = `The uploaded file has ${source.size} bytes; at most ${limit} are allowed`
    return fail(system, track.id, fault('file_too_large', message), true)
  }
  const payload = { kind: 'transcode' as const, track_id: track.id, source_path, source_size: source.size }
  const job = insertJob(system, track.organization_id, payload)
  const [, moved] = await db.batch([
    job.insert,
    db
      .update(tracks)
      .set({ status: 'processing', job_id: job.id, progress: 0, info: {} })
      .where(isWaiting(track.id))
      .returning({ id: tracks.id }),
    // Somebody else was faster: their job stands, this one never was.
    db
      .delete(jobs)
      .where(
        and(eq(jobs.id, job.id), sql`not exists (select 1 from tracks where id = ${track.id} and job_id = ${job.id})`),
      ),
  ])
  if (moved.length === 0) return false
  await sendJob(system, job)
  return true
}

/** `final` keeps late bytes from reviving the track. */
async function fail({ db }: System, id: string, info: ReturnType<typeof fault>, final = false): Promise<boolean> {
  const failed = await db
    .update(tracks)
    .set({ status: 'failed', info, ...(final && { job_id: 'none' }) })
    .where(isWaiting(id))
    .returning({ id: tracks.id })
  return failed.length > 0
}

/** The sweep looks ever less often, and once more when the handle has lapsed. */
async function checkLater({ db, now }: System, track: Waiting): Promise<void> {
  const pause = Math.max(60_000, (now - track.created_at) / 2)
  await db
    .update(tracks)
    .set({ next_check_at: Math.min(now + pause, track.upload_expires_at + 1000) })
    .where(and(isWaiting(track.id), sql`next_check_at <= ${now}`))
}

/** A track that an uploaded object belongs to: by its key, `uploads/{organization}/{collection}/{track}`. */
export async function ingestPath(system: System, path: string): Promise<void> {
  const id = /^uploads\/[^/]+\/[^/]+\/([0-9a-f-]{36})$/.exec(path)?.[1]
  if (!id) return
  const track = await system.db
    .select()
    .from(tracks)
    .where(and(eq(tracks.id, id), isNull(tracks.job_id)))
    .get()
  if (track) await ingest(system, track)
}

/** Looks for uploads that nobody told of. */
export async function ingestWaiting(system: System, limit: number): Promise<void> {
  const waiting = await system.db
    .select()
    .from(tracks)
    .where(sql`status = 'initializing' and next_check_at <= ${system.now}`)
    .orderBy(tracks.next_check_at)
    .limit(limit)
  for (const track of waiting) await ingest(system, track)
}

import { and, eq, type SQL, sql } from 'drizzle-orm'

import { findFile, readObject } from '../adapters/media.ts'
import { tracks } from '../adapters/schema.ts'
import type { System } from '../context.ts'
import { sniff } from '../contract/sniff.ts'
import { HEAD_BYTES } from '../contract/text.ts'
import { startTranscode } from './transcode/start.ts'
import { failure } from './transcode/track_job.ts'
import { nudgeFor } from './webhook.ts'

/**
 * Has the upload arrived? Reached by R2's event, by reading the track, by `upload_complete` and by the sweep
 * (docs/architecture.md#how-audio-flows); all four may come at once or twice.
 */

type Waiting = Pick<
  typeof tracks.$inferSelect,
  'id' | 'organization_id' | 'status' | 'info' | 'source_path' | 'upload_path' | 'upload_expires_at' | 'created_at'
>

/** The sweep looks no more; late bytes are still found by R2's event or by reading. */
const NEVER = Number.MAX_SAFE_INTEGER

/** The track still waits for the very upload that was looked at. */
const waitsFor = (track: Waiting) =>
  and(eq(tracks.id, track.id), eq(tracks.awaiting_upload, true), eq(tracks.upload_path, track.upload_path))!

/** Moves the track on when its bytes are there (or will never come). True when something changed. */
export async function ingest(system: System, track: Waiting): Promise<boolean> {
  const source = await findFile(system.env, track.upload_path)
  // It was refused, and whoever did that came no further.
  if (!source && track.status === 'initializing' && track.info.error) return fail(system, track)
  if (!source) return expire(system, track)
  const { path, size } = source
  if (size === 0) return refuse(system, track, failure('empty_file', 'The uploaded file is empty (0 bytes)'))
  const limit = Number(system.env.MAX_UPLOAD_BYTES)
  if (size > limit) {
    const message = `The uploaded file has ${size} bytes; at most ${limit} are allowed`
    return refuse(system, track, failure('file_too_large', message))
  }
  const read = (offset: number) => (offset < size ? readObject(system.env, path, offset, HEAD_BYTES) : new Uint8Array())
  const found = await sniff(async (offset) => read(offset), size)
  if ('code' in found) return refuse(system, track, failure(found.code, found.message))
  return startTranscode(system, track, source, waitsFor(track))
}

/** A file that no decoder needs to look at, however long the line is. The reason is written first: without the file nobody could tell it. */
async function refuse(system: System, track: Waiting, reason: ReturnType<typeof failure>): Promise<boolean> {
  const { db, env } = system
  const info = sql`json_patch(info, ${JSON.stringify(reason)})`
  await db.update(tracks).set({ info }).where(waitsFor(track))
  await env.MEDIA.delete(track.upload_path)
  return fail(system, track, { info })
}

/** Ends the waiting. A track that had a good file before keeps it. */
async function fail({ db }: System, track: Waiting, values: { info?: SQL } = {}): Promise<boolean> {
  const status = track.source_path === null ? ('failed' as const) : track.status
  const failed = await db
    .update(tracks)
    .set({ awaiting_upload: false, status, ...values })
    .where(waitsFor(track))
    .returning({ id: tracks.id })
  return failed.length > 0
}

/** Nothing there: the sweep looks ever less often, and for the last time when the handle has lapsed. */
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

/** A track that an uploaded object belongs to: by its key, `uploads/{organization}/{collection}/{track}` with or without a suffix. */
export async function ingestPath(system: System, path: string): Promise<void> {
  const id = /^uploads\/[^/]+\/[^/]+\/([0-9a-f-]{36})(\.\w+)?$/.exec(path)?.[1]
  if (!id) return
  const track = await system.db
    .select()
    .from(tracks)
    .where(and(eq(tracks.id, id), eq(tracks.awaiting_upload, true), eq(tracks.upload_path, path)))
    .get()
  if (track && (await ingest(system, track))) await nudgeFor(system, track.organization_id)
}

/** Looks for uploads that nobody told of. */
export async function ingestWaiting(system: System, limit: number): Promise<void> {
  const { db, now } = system
  const waiting = await db
    .select()
    .from(tracks)
    .where(sql`awaiting_upload = 1 and next_check_at <= ${now}`)
    .orderBy(tracks.next_check_at)
    .limit(limit)
  for (const track of waiting) {
    const late = track.upload_expires_at <= now && track.status !== 'initializing'
    if (!(await ingest(system, track)) && late) {
      await db.update(tracks).set({ next_check_at: NEVER }).where(waitsFor(track))
    }
  }
}

import { and, eq, sql } from 'drizzle-orm'

import { filesOf } from '../../adapters/bucket/track_files.ts'
import { tracks } from '../../adapters/db/schema/library.ts'
import { trash } from '../../adapters/db/schema/trash.ts'
import { jobs, type JobPayload } from '../../adapters/db/schema/work.ts'
import { instanceOf } from '../../adapters/transcoder/client.ts'
import type { System } from '../../context.ts'
import { describeError } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { AFTER_URLS, insertJob, type QueuedJob } from '../jobs.ts'
import { dispatch } from './dispatch.ts'
import { abortOutputs } from './output_parts.ts'
import { basePath, earlyPath } from './request.ts'
import { instanceOfSlot } from './slots.ts'
import { filePath, renditions } from './variants.ts'

const isWanted = sql`state = 'open' and exists (select 1 from tracks as track, collections, organizations
  where track.id = jobs.payload ->> 'track_id' and track.job_id = jobs.id
    and (track.status = 'initializing' or jobs.payload ->> 'kind' <> 'import')
    and collections.id = track.collection_id and organizations.id = track.organization_id)`

/** Milliseconds after which a request to cancel a job times out. */
const CANCEL_TIMEOUT = 6000

/**
 * Cancels the transcodes and imports of tracks that were deleted or have a newer job: the transcoder stops at once, which frees the slot. Never throws: when a
 * cancellation fails, the sweep repeats it until the job's lease ends.
 */
export async function cancelUnwanted(system: System): Promise<void> {
  try {
    const unwanted = await system.db
      .select({ id: jobs.id, slot: jobs.slot, lease_until: jobs.lease_until, payload: jobs.payload })
      .from(jobs)
      .where(sql`slot is not null and not (${isWanted})`)
    const ended = await Promise.all(unwanted.map((job) => cancelOne(system, job as Unwanted)))
    if (ended.includes(true)) await dispatch(system)
  } catch (error) {
    log('error', 'end_unwanted_failed', { error: describeError(error) })
  }
}

type Unwanted = Pick<QueuedJob, 'id' | 'slot' | 'lease_until' | 'payload'>

/** Cancels one job. Returns true when its slot is free. */
async function cancelOne(system: System, { id, slot, lease_until, payload }: Unwanted): Promise<boolean> {
  const { db, env } = system
  const cancelled = instanceOf(env, instanceOfSlot(slot!)).cancel(id)
  const timeout = scheduler.wait(CANCEL_TIMEOUT).then(() => false)
  const isEnded = await Promise.race([cancelled.catch(() => false), timeout])
  if (!isEnded && lease_until > Date.now()) return false
  await abortOutputs(env, payload.uploads)
  if (payload.kind === 'transcode') await purgeOutputs(system, id, payload)
  await db
    .update(jobs)
    .set({ state: 'done', slot: null })
    .where(sql`id = ${id} and slot is not null and not (${isWanted})`)
  return true
}

/**
 * Purges a job's files later, except an early file that is still played. Does nothing when the track was deleted permanently, because that also
 * deletes its files.
 */
async function purgeOutputs(system: System, job_id: string, payload: Extract<JobPayload, { kind: 'transcode' }>) {
  const { db } = system
  const track =
    (await db.select().from(tracks).where(eq(tracks.id, payload.track_id)).get()) ??
    (await trashedTrack(db, payload.track_id))
  if (!track) return
  const base = basePath(track, job_id)
  const files = filesOf(track)
  const outputs = [
    earlyPath(base),
    ...renditions(payload.custom_variants ?? []).map((rendition) => filePath(base, rendition)),
  ]
  const paths = outputs.filter((path) => !files.some((file) => file.path === path))
  const purge = { kind: 'purge' as const, prefixes: [`${base}/cover/`], paths }
  await insertJob(system, track.organization_id, purge, AFTER_URLS).insert
}

/** Reads a track in the trash, with the columns from which its paths are built. */
async function trashedTrack(db: System['db'], id: string) {
  const isTrashedTrack = and(eq(trash.id, id), eq(trash.scope, 'track'))
  const item = await db.select({ content: trash.content }).from(trash).where(isTrashedTrack).get()
  if (!item) return undefined
  const { files, ...track } = item.content as typeof tracks.$inferSelect & { files: never }
  return { ...track, files: JSON.parse(files ?? 'null') as (typeof tracks.$inferSelect)['files'] }
}

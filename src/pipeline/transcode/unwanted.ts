import { eq, sql } from 'drizzle-orm'

import { trackPath } from '../../adapters/media.ts'
import { tracks } from '../../adapters/schema.ts'
import { instanceOf } from '../../adapters/transcoder.ts'
import { jobs, type JobPayload } from '../../adapters/work_schema.ts'
import type { System } from '../../context.ts'
import { JOB_SLOTS } from '../../contract/facts.ts'
import { describeError } from '../../errors.ts'
import { AFTER_URLS, insertJob, type Job } from '../jobs.ts'
import { dispatch } from './line.ts'
import { filePath, renditions } from './variant_spec.ts'

const wanted = sql`state = 'open' and exists (select 1 from tracks as track, collections, organizations
  where track.id = jobs.payload ->> 'track_id' and track.job_id = jobs.id
    and collections.id = track.collection_id and organizations.id = track.organization_id)`

/**
 * Ends what runs for tracks that are gone or have a newer job: the transcoder stops at once, and its place is free. What a job has made
 * of a track that is still there is deleted later, but for an early file that plays; what is deleted with its track needs no more.
 */
export async function endUnwanted(system: System): Promise<void> {
  const { db, env } = system
  const unwanted = await db
    .select({ id: jobs.id, slot: jobs.slot, payload: jobs.payload })
    .from(jobs)
    .where(sql`slot is not null and not (${wanted})`)
  for (const { id, slot, payload } of unwanted) {
    try {
      await instanceOf(env, Math.floor(slot! / JOB_SLOTS.length)).cancel(id)
    } catch (error) {
      console.error(JSON.stringify({ event: 'cancel_failed', job_id: id, error: describeError(error) }))
    }
    await deleteMade(system, id, payload as Job<'transcode'>['payload'])
    await db
      .update(jobs)
      .set({ state: 'done', slot: null })
      .where(sql`id = ${id} and slot is not null and not (${wanted})`)
  }
  if (unwanted.length > 0) await dispatch(system)
}

async function deleteMade(system: System, job_id: string, payload: Extract<JobPayload, { kind: 'transcode' }>) {
  const track = await system.db.select().from(tracks).where(eq(tracks.id, payload.track_id)).get()
  if (!track) return
  const base = `${trackPath(track)}/${job_id.slice(-8)}`
  const made = renditions(payload.own ?? []).map((rendition) => filePath(base, rendition))
  const paths = made.filter((path) => !track.files?.some((file) => file.path === path))
  const purge = { kind: 'purge' as const, prefixes: [`${base}/cover/`], paths }
  await insertJob(system, track.organization_id, purge, AFTER_URLS).insert
}

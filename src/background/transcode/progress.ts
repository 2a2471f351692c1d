import { and, sql } from 'drizzle-orm'

import { isTransientError } from '../../adapters/db/retry.ts'
import { tracks } from '../../adapters/db/schema/library.ts'
import { jobs } from '../../adapters/db/schema/work.ts'
import type { System } from '../../context.ts'
import { describeError } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { ifLeaseHeld, isLeaseHolder, type Job, LEASE, type QueuedJob } from '../../domain/jobs.ts'
import { trackOf } from '../../domain/transcode/track_job.ts'

/** Minimum progress of a running job; 0 means that the job is waiting. */
const STARTED = 0.001

/** The progress of a track after its job has reached a fraction. It never decreases. */
export const progressAt = (fraction: number) =>
  sql`max(coalesce(progress, 0), ${Math.max(STARTED, Math.round(fraction * 1000) / 1000)})`

/** Switches the job to the tolerant pass, which its later attempts also use. The progress restarts at zero. */
export async function switchToTolerantPass({ db }: System, job: Job<'transcode'>): Promise<void> {
  const strict = sql`exists (select 1 from jobs where ${isLeaseHolder(job)} and pass = 'strict')`
  await db.batch([
    db
      .update(tracks)
      .set({ status: 'fallback_processing', progress: STARTED })
      .where(and(trackOf(job), strict)),
    db.update(jobs).set({ pass: 'tolerant' }).where(isLeaseHolder(job)),
  ])
}

/** Sets the progress of a job that is about to be queued again to zero, so that its track shows that it is waiting. */
export async function resetProgress({ db }: System, job: Job<'transcode'>): Promise<void> {
  await db
    .update(tracks)
    .set({ progress: 0 })
    .where(and(trackOf(job), ifLeaseHeld(job)))
}

/**
 * Renews the lease and writes the progress, which never decreases: after a fault, a restarted transcoder first has to catch up. Returns false when
 * the lease was lost, and null when the database does not respond. The latter is harmless, because several renewals can fail before the lease
 * expires.
 */
export async function renewLease(system: System, job: QueuedJob, progress: number | null): Promise<boolean | null> {
  const { db } = system
  try {
    const renewal = db
      .update(jobs)
      .set({ lease_until: Date.now() + LEASE })
      .where(isLeaseHolder(job))
      .returning({ id: jobs.id })
    if (progress === null) return (await renewal).length > 0
    const [renewed] = await db.batch([
      renewal,
      db
        .update(tracks)
        .set({ progress: progressAt(progress) })
        .where(and(trackOf(job), ifLeaseHeld(job))),
    ])
    return renewed.length > 0
  } catch (error) {
    if (!isTransientError(error)) throw error
    log('error', 'progress_lost', { job_id: job.id, error: describeError(error) })
    return null
  }
}

import { and, eq, sql } from 'drizzle-orm'

import { tracks } from '../../adapters/db/schema/library.ts'
import { foldedUpdate } from '../../adapters/db/search.ts'
import type { System } from '../../context.ts'
import type { TrackErrorCode } from '../../contract/track_errors.ts'
import { ingestPath } from '../../domain/ingest.ts'
import { endJob, ifJustEnded, ifLeaseHeld, type Job } from '../../domain/jobs.ts'
import { failure, trackOf } from '../../domain/transcode/track_job.ts'
import { namesOf } from '../../domain/upload_handles.ts'

/** Whether the job still fetches the file of its track. */
const isFetching = (job: Job<'import'>) => and(trackOf(job), eq(tracks.status, 'initializing'))

/** Gives the track the name that the server of its source gives the file. Does nothing if the request named the file. */
export async function nameTrack({ db }: System, job: Job<'import'>, name: string | null): Promise<void> {
  if (name === null || job.payload.is_named) return
  const names = namesOf({ file_name: name })
  await db
    .update(tracks)
    .set({ ...names, ...foldedUpdate('tracks', names) })
    .where(and(isFetching(job), ifLeaseHeld(job)))
}

/**
 * Ends a job whose file is stored, which frees its slot, and ingests the file like an upload. If the Worker stops in between, the sweep ingests it.
 */
export async function finishImport(system: System, job: Job<'import'>): Promise<void> {
  const { db, now } = system
  await db.batch([
    endJob(system, job),
    db
      .update(tracks)
      .set({ next_check_at: now })
      .where(and(isFetching(job), ifJustEnded(job, 'done'))),
  ])
  await ingestPath(system, job.payload.path)
}

/** Ends a job as failed, stores the reason in the track, and ends its upload handle, which frees the reserved bytes. */
export async function failImport(system: System, job: Job<'import'>, code: TrackErrorCode, message: string) {
  const { db, now } = system
  const info = failure(code, message, job.attempt)
  await db.batch([
    endJob(system, job, 'failed', info.error),
    db
      .update(tracks)
      .set({
        status: 'failed',
        progress: null,
        awaiting_upload: false,
        upload_expires_at: sql`min(upload_expires_at, ${now})`,
        info: sql`json_patch(info, ${JSON.stringify(info)})`,
      })
      .where(and(isFetching(job), ifJustEnded(job, 'failed'))),
  ])
}

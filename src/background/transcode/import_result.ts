import { and, eq, type SQL, sql } from 'drizzle-orm'

import { tracks } from '../../adapters/db/schema/library.ts'
import { sourceUrls } from '../../adapters/db/schema/source_urls.ts'
import type { System } from '../../context.ts'
import type { TrackErrorCode } from '../../contract/track_errors.ts'
import { ingestPath } from '../../domain/ingest.ts'
import { endJob, ifJustEnded, ifLeaseHeld, type Job } from '../../domain/jobs.ts'
import { failure, trackOf } from '../../domain/transcode/track_job.ts'

/** Whether the job still fetches the file of its track. */
const isFetching = (job: Job<'import'>) => and(trackOf(job), eq(tracks.status, 'initializing'))

/** Stores the name that the server of the source gives the file. Listeners see the name that the request gave it. */
export async function nameTrack({ db }: System, job: Job<'import'>, file_name_original: string | null): Promise<void> {
  if (file_name_original === null) return
  await db
    .update(tracks)
    .set({ file_name_original })
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

/**
 * Ends a job as failed, and deletes its URL. Stores the reason in the track and ends its upload handle, which frees the reserved bytes, unless the track has a
 * newer handle, for which it continues to wait.
 */
export async function failImport(system: System, job: Job<'import'>, code: TrackErrorCode, message: string) {
  const { db, now } = system
  const { track_id, path } = job.payload
  const info = failure(code, message, job.attempt)
  const ifNewest = (value: SQL, column: string) => sql`iif(upload_path = ${path}, ${value}, ${sql.raw(column)})`
  await db.batch([
    endJob(system, job, 'failed', info.error),
    db.delete(sourceUrls).where(and(eq(sourceUrls.track_id, track_id), ifJustEnded(job, 'failed'))),
    db
      .update(tracks)
      .set({
        progress: null,
        status: ifNewest(sql`'failed'`, 'status'),
        awaiting_upload: ifNewest(sql`0`, 'awaiting_upload'),
        upload_expires_at: ifNewest(sql`min(upload_expires_at, ${now})`, 'upload_expires_at'),
        info: ifNewest(sql`json_patch(info, ${JSON.stringify(info)})`, 'info'),
      })
      .where(and(isFetching(job), ifJustEnded(job, 'failed'))),
  ])
}

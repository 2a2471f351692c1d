import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'

import { uploadSuffix } from '../../adapters/bucket/track_storage.ts'
import { runBatch } from '../../adapters/db/database.ts'
import { tracks } from '../../adapters/db/schema/library.ts'
import { jobs } from '../../adapters/db/schema/work.ts'
import type { System } from '../../context.ts'
import { purgeLaterFrom } from '../cleanup/purge.ts'
import { sendJob } from '../jobs.ts'
import { filePaths, hasFinalFiles, isMadeFromSource } from '../stored_files.ts'
import { cancelUnwanted } from './cancel_unwanted.ts'
import { insertTranscode, insertTranscodes, type QueuedSource } from './queue.ts'

/** The column values of a track when a job starts to own its status. */
const startedColumns = {
  status: 'processing' as const,
  progress: 0,
  info: sql`json_remove(info, '$.error')`,
}

/** Whether no active job owns the track's status. */
export const noActiveJob = sql`status not in ('processing', 'fallback_processing')`

/** Returns the statements that reprocess tracks from their sources, except tracks with an active job. After their batch, wake one of the jobs. */
export function restartTranscodes(system: System, organization_id: string, sources: QueuedSource[]) {
  const source = sql`(select value ->> 'track_id' as source_id, value ->> 'job_id' as new_job, value ->> 'source_size' as new_size
    from json_each(${JSON.stringify(sources)})) as source`
  return [
    insertTranscodes(system, organization_id, sources, noActiveJob),
    system.db
      .update(tracks)
      .set({ ...startedColumns, job_id: sql`new_job`, source_size: sql`new_size` })
      .from(source)
      .where(sql`tracks.id = source_id and exists (select 1 from jobs where jobs.id = new_job)`),
  ] as const
}

/** The changes that a new source causes besides the job: columns of its track, and statements that run after the track's update. */
interface SourceChange {
  set: Parameters<ReturnType<System['db']['update']>['set']>[0]
  after: BatchItem<'sqlite'>[]
}

/** Starts a transcode job, which then owns the track's status. Returns false if `condition` no longer holds when the batch runs. */
export async function startTranscode(
  system: System,
  track: { id: string; organization_id: string },
  source: { path: string; size: number },
  condition: SQL,
  {
    reprocess_id,
    sourceChange,
  }: { reprocess_id?: string; sourceChange?: (job: { isOwner: SQL }) => SourceChange } = {},
): Promise<boolean> {
  const { db } = system
  const job = insertTranscode(system, track.organization_id, {
    kind: 'transcode',
    track_id: track.id,
    source_path: source.path,
    source_size: source.size,
    ...(reprocess_id && { reprocess_id }),
  })
  const isStartable = and(eq(tracks.id, track.id), condition)
  const isOwner = sql`exists (select 1 from tracks where id = ${track.id} and job_id = ${job.id})`
  // The track whose previous source is replaced before any final files were made from it.
  const unused = sql`tracks where ${isStartable} and source_path <> ${source.path} and not ${isMadeFromSource}`
  const unusedPaths = sql`(select json_group_array(path) from (
    select source_path as path union all select path from (${filePaths(sql`files`)}) where not ${hasFinalFiles}))`
  const { set = {}, after = [] } = sourceChange?.({ isOwner }) ?? {}
  const ownJob = db.select({ id: jobs.id }).from(jobs).where(eq(jobs.id, job.id))
  const resultOf = await runBatch(db, [
    job.insert,
    purgeLaterFrom(system, track.organization_id, unusedPaths, unused),
    db
      .update(tracks)
      .set({
        ...startedColumns,
        job_id: job.id,
        source_suffix: uploadSuffix(source.path),
        source_size: source.size,
        ...set,
      })
      .where(isStartable),
    // If the track was not updated, another request was faster: the job of that request is kept, and this job is deleted.
    db.delete(jobs).where(and(eq(jobs.id, job.id), sql`not ${isOwner}`)),
    ownJob,
    ...after,
  ])
  if (resultOf(ownJob).length === 0) return false
  await sendJob(system, job)
  await cancelUnwanted(system)
  return true
}

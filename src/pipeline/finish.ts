import { and, eq, isNull, sql } from 'drizzle-orm'

import { tracks, trackVariants } from '../adapters/schema.ts'
import { jobs } from '../adapters/work_schema.ts'
import type { System } from '../context.ts'
import type { JobErrorCode, JobResult } from '../contract/job.ts'
import { fault } from './ingest.ts'
import { holds, type Job } from './job.ts'
import { purge, purgeLater } from './purge.ts'

type Track = typeof tracks.$inferSelect

/** True in the batch that ended this job in this attempt: an answer that comes too late changes nothing. */
const ended = (job: Job, state: 'done' | 'failed') =>
  sql`exists (select 1 from jobs where id = ${job.id} and attempt = ${job.attempt} and state = ${state})`

/** The track whose status a transcode job owns. By its id: nothing finds tracks by their job. */
export const trackOf = ({ id, payload }: Job) =>
  and(eq(tracks.id, payload.kind === 'transcode' ? payload.track_id : ''), eq(tracks.job_id, id))

/** Writes variants, levels, duration, info and status in one batch (design.md §3.6). */
export async function finishTranscode(
  system: System,
  job: Job,
  track: Track,
  result: JobResult,
  paths: Record<string, string>,
  base: string,
): Promise<void> {
  const { db } = system
  if (job.payload.kind !== 'transcode') throw new Error('not a transcode job')
  const bitrate = typeof result.info.bitrate === 'number' ? Math.round(result.info.bitrate) : 0
  const files = [
    ...result.variants.map((made) => ({ ...made, path: paths[made.index] })),
    {
      index: 'original',
      size: job.payload.source_size,
      bitrate,
      duration: result.duration,
      path: job.payload.source_path,
    },
  ]
  const mine = and(trackOf(job), ended(job, 'done'))
  const stillMine = sql`exists (select 1 from tracks where ${mine})`
  const [before, , , , updated] = await db.batch([
    db
      .select({ index: trackVariants.index, path: trackVariants.path })
      .from(trackVariants)
      .where(eq(trackVariants.track_id, track.id)),
    db.update(jobs).set({ state: 'done' }).where(holds(job)),
    db.delete(trackVariants).where(and(eq(trackVariants.track_id, track.id), stillMine)),
    db.insert(trackVariants).select(sql`
      select ${track.id}, value ->> 'index', value ->> 'path', value ->> 'size', value ->> 'bitrate', value ->> 'duration'
      from json_each(${JSON.stringify(files)}) where ${stillMine}`),
    db
      .update(tracks)
      .set({
        status: result.failed.length > 0 ? 'incomplete' : 'ready',
        duration: Math.round(result.duration * 1000) / 1000,
        levels: JSON.stringify(result.levels),
        progress: null,
        info: {
          ...result.info,
          warnings: result.warnings,
          ...(result.failed.length > 0 && { failed_variants: result.failed }),
          ...(result.skipped.length > 0 && { skipped_variants: result.skipped }),
        },
      })
      .where(mine)
      .returning({ id: tracks.id }),
    ...(result.cover
      ? [
          db
            .update(tracks)
            .set({ cover_path: `${base}/cover`, cover_colors: result.cover.image_colors })
            .where(and(mine, isNull(tracks.cover_path), isNull(tracks.cover_job_id))),
        ]
      : []),
  ])
  const { organization_id } = track
  if (updated.length > 0) {
    const current = new Set(files.map((file) => file.path))
    const replaced = before.map((file) => file.path).filter((path) => !current.has(path))
    await purgeLater(system, organization_id, [], replaced)
    return
  }
  // Either another worker of the same job was faster, and the files are the track's; or the track was deleted while it was
  // processed, or processed anew, and they are nobody's.
  const owner = await db.select({ id: tracks.id }).from(tracks).where(trackOf(job)).get()
  if (!owner) await purge(system, organization_id, [`${base}/`])
}

/** Marks track and job failed, with a reason that a person understands. */
export async function failTranscode(
  { db }: System,
  job: Job,
  code: JobErrorCode | 'transcoder_unavailable',
  message: string,
) {
  const info = fault(code, message, job.attempt)
  await db.batch([
    db.update(jobs).set({ state: 'failed', error: info.error }).where(holds(job)),
    db
      .update(tracks)
      .set({
        // A track that plays goes on playing what it had.
        status: sql`case when exists (select 1 from track_variants where track_id = ${tracks.id}) then 'incomplete' else 'failed' end`,
        progress: null,
        info: sql`json_patch(info, ${JSON.stringify(info)})`,
      })
      .where(and(trackOf(job), ended(job, 'failed'))),
  ])
}

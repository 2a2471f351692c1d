import { and, eq, isNull, sql } from 'drizzle-orm'

import { insertFrom } from '../adapters/database.ts'
import { tracks, trackVariants, variants } from '../adapters/schema.ts'
import { FILE_LIST } from '../adapters/track_files.ts'
import { jobs } from '../adapters/work_schema.ts'
import type { System } from '../context.ts'
import type { TrackErrorCode } from '../contract/errors.ts'
import type { JobResult } from '../contract/job.ts'
import { earlyPath, type Work } from './ask.ts'
import { fault } from './ingest.ts'
import { holds, type Job } from './job.ts'
import { purge, purgeLater } from './purge.ts'
import { filePath, settingsOf } from './rendition.ts'

/** True in the batch that ended this job in this attempt: an answer that comes too late changes nothing. */
const ended = (job: Job, state: 'done' | 'failed') =>
  sql`exists (select 1 from jobs where id = ${job.id} and attempt = ${job.attempt} and state = ${state})`

/** The track whose status a transcode job owns. By its id: nothing finds tracks by their job. */
export const trackOf = ({ id, payload }: Job) =>
  and(eq(tracks.id, payload.kind === 'transcode' ? payload.track_id : ''), eq(tracks.job_id, id))

/** The rows of what was made, and the uploaded file as the variant `original`. */
function filesOf({ job, renditions, own, base }: Work, result: JobResult) {
  if (job.payload.kind !== 'transcode') throw new Error('not a transcode job')
  const { source_path, source_size } = job.payload
  const bitrate = Math.round(result.info.bitrate ?? 0)
  const made = result.variants.flatMap((file) => {
    const rendition = renditions.find(({ index }) => index === file.index)
    const variant_id = own.find(({ index }) => index === file.index)?.id ?? null
    return rendition ? [{ ...file, path: filePath(base, rendition), variant_id }] : []
  })
  const original = { index: 'original', size: source_size, bitrate, duration: result.duration, path: source_path }
  return [...made, { ...original, variant_id: null }]
}

/** Writes variants, levels, duration, info and status in one batch (docs/architecture.md#how-audio-flows). */
export async function finishTranscode(system: System, work: Work, result: JobResult): Promise<void> {
  const { db } = system
  const { job, track, base } = work
  const files = filesOf(work, result)
  const settled = new Set([...result.variants, ...result.skipped].map(({ index }) => index))
  const mine = and(trackOf(job), ended(job, 'done'))
  const stillMine = sql`exists (select 1 from tracks where ${mine})`
  // A variant may have been deleted while it was made.
  const defined = sql`(value ->> 'variant_id' is null or exists (select 1 from variants where id = value ->> 'variant_id'))`
  const [before, living, , , , updated] = await db.batch([
    db
      .select({ index: trackVariants.index, path: trackVariants.path })
      .from(trackVariants)
      .where(eq(trackVariants.track_id, track.id)),
    db.select({ id: variants.id }).from(variants).where(eq(variants.organization_id, track.organization_id)),
    db.update(jobs).set({ state: 'done' }).where(holds(job)),
    db.delete(trackVariants).where(and(eq(trackVariants.track_id, track.id), stillMine)),
    insertFrom(
      db,
      trackVariants,
      {
        track_id: track.id,
        index: sql`value ->> 'index'`,
        path: sql`value ->> 'path'`,
        size: sql`value ->> 'size'`,
        bitrate: sql`value ->> 'bitrate'`,
        duration: sql`value ->> 'duration'`,
        variant_id: sql`value ->> 'variant_id'`,
      },
      sql`json_each(${JSON.stringify(files)}) where ${stillMine} and ${defined}`,
    ),
    db
      .update(tracks)
      .set({
        status: result.failed.length > 0 ? 'incomplete' : 'ready',
        duration: Math.round(result.duration * 1000) / 1000,
        levels: JSON.stringify(result.levels),
        made_with: work.renditions.filter(({ index }) => settled.has(index)).map(settingsOf),
        progress: null,
        files: sql.raw(FILE_LIST),
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
  if (updated.length > 0) {
    const kept = files.filter(({ variant_id }) => variant_id === null || living.some(({ id }) => id === variant_id))
    const current = new Set(kept.map((file) => file.path))
    const replaced = [...before, ...files].map((file) => file.path).filter((path) => !current.has(path))
    return purgeLater(system, track.organization_id, [], [...new Set(replaced)])
  }
  await dropUnwanted(system, work, files)
}

/** Has the files deleted of a job that lost its track, except those that the track plays from. */
async function dropUnwanted(system: System, { job, track, base }: Work, files: { path: string }[]) {
  const { db } = system
  const [[exists], [owner], playing] = await db.batch([
    db.select({ id: tracks.id }).from(tracks).where(eq(tracks.id, track.id)),
    db.select({ id: tracks.id }).from(tracks).where(trackOf(job)),
    db.select({ path: trackVariants.path }).from(trackVariants).where(eq(trackVariants.track_id, track.id)),
  ])
  // Another worker of the same job was faster, and the files are the track's.
  if (owner) return
  if (!exists) return purge(system, track.organization_id, [`${base}/`])
  // Processed anew: until that has a file of its own, an early one of this job plays, and then goes like every other.
  const paths = [earlyPath(base), ...files.map((file) => file.path)].filter((path) => path.startsWith(`${base}/`))
  const unused = paths.filter((path) => !playing.some((file) => file.path === path))
  await purgeLater(system, track.organization_id, [`${base}/cover/`], unused)
}

/** Ends a job for good; the track says why. */
export async function failTranscode(system: System, job: Job, code: TrackErrorCode, message: string) {
  const { db } = system
  const info = fault(code, message, job.attempt)
  const mine = and(trackOf(job), ended(job, 'failed'))
  const track_id = job.payload.kind === 'transcode' ? job.payload.track_id : ''
  const early = and(eq(trackVariants.track_id, track_id), eq(trackVariants.is_early, true))
  const hasFiles = sql`exists (select 1 from track_variants where track_id = ${tracks.id})`
  const [before, , , updated] = await db.batch([
    db.select({ path: trackVariants.path }).from(trackVariants).where(early),
    db.update(jobs).set({ state: 'failed', error: info.error }).where(holds(job)),
    // A first file of what could not be finished: nothing is to follow it.
    db.delete(trackVariants).where(and(early, sql`exists (select 1 from tracks where ${mine})`)),
    db
      .update(tracks)
      .set({
        // A track that plays goes on playing what it had.
        status: sql`case when ${hasFiles} then 'incomplete' else 'failed' end`,
        duration: sql`case when ${hasFiles} then duration else 0 end`,
        progress: null,
        info: sql`json_patch(info, ${JSON.stringify(info)})`,
      })
      .where(mine)
      .returning({ id: tracks.id }),
  ])
  if (updated.length === 0) return
  const paths = before.map((file) => file.path)
  await purgeLater(system, job.organization_id, [], paths)
}

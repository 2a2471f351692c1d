import { and, eq, sql } from 'drizzle-orm'

import { signUrl, trackPath } from '../adapters/media.ts'
import { tracks } from '../adapters/schema.ts'
import { jobs, type OwnVariant } from '../adapters/work_schema.ts'
import type { System } from '../context.ts'
import { type Rendition, toJobVariant } from '../contract/catalogue.ts'
import type { TranscodeJob } from '../contract/job.ts'
import { signCoverOutputs } from './cover.ts'
import { holds, type Job } from './job.ts'
import { filePath, ownVariants, renditions } from './rendition.ts'

/** Seconds: long enough for a job that waits in the transcoder's queue behind long ones. */
const URL_TTL = 6 * 3600
/** Seconds from which on a source is worth a first file of its own: a shorter one is done nearly as soon. */
const EARLY_FROM = 300

type Track = typeof tracks.$inferSelect

/** One transcode job with everything that it is about. */
export interface Work {
  job: Job
  track: Track
  /** The organization's own variants that it makes. */
  own: OwnVariant[]
  renditions: Rendition[]
  /** Storage prefix of what it makes; a new job never overwrites what is being played. */
  base: string
  /** Whether the track has files that are no early ones. */
  is_playable: boolean
}

/**
 * Loads what a job is about; null when the track is gone or has a newer job. The organization's variants are written into the job the
 * first time, so that whoever follows it later knows what it makes, whatever has become of them.
 */
export async function loadWork({ db }: System, job: Job): Promise<Work | null> {
  if (job.payload.kind !== 'transcode') throw new Error('not a transcode job')
  const { payload } = job
  const hasFiles = sql<number>`exists (select 1 from track_variants where track_id = ${payload.track_id} and is_early = 0)`
  const [[track], [files], found] = await db.batch([
    db
      .select()
      .from(tracks)
      .where(and(eq(tracks.id, payload.track_id), eq(tracks.job_id, job.id))),
    db.select({ has: hasFiles.as('has') }).from(sql`(select 1)`),
    ownVariants(db, job.organization_id),
  ])
  if (!track) return null
  const own =
    payload.own ?? found.map(({ organization_id: _organization, seq: _seq, created_at: _at, ...variant }) => variant)
  if (!payload.own) {
    const pinned = { ...payload, own }
    const kept = await db.update(jobs).set({ payload: pinned }).where(holds(job)).returning({ id: jobs.id })
    if (kept.length === 0) return null
  }
  return {
    job,
    track,
    own,
    renditions: renditions(own),
    base: `${trackPath(track)}/${job.id.slice(-8)}`,
    is_playable: files?.has === 1,
  }
}

/** The job as the transcoder is told it: every URL and every setting (`src/contract/job.ts`). */
export async function jobRequest(env: Env, { job, track, renditions, base, is_playable }: Work): Promise<TranscodeJob> {
  if (job.payload.kind !== 'transcode') throw new Error('not a transcode job')
  const sign = (path: string) => signUrl(env, 'PUT', path, { expires_in: URL_TTL })
  return {
    version: 1,
    job_id: job.id,
    pass: job.pass,
    source: {
      url: await signUrl(env, 'GET', job.payload.source_path, { expires_in: URL_TTL }),
      size: job.payload.source_size,
    },
    max_duration: Number(env.MAX_DURATION_SECONDS),
    variants: await Promise.all(
      renditions.map(async (rendition) => toJobVariant(rendition, await sign(filePath(base, rendition)))),
    ),
    cover: track.cover_path || track.cover_job_id ? null : await signCoverOutputs(env, `${base}/cover`, URL_TTL),
    early: is_playable ? null : { url: await sign(earlyPath(base)), from_duration: EARLY_FROM },
  }
}

/** Where a copy of the source's own stream goes; its format is the source's, so it has no extension. */
export const earlyPath = (base: string) => `${base}/early`

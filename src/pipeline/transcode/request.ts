import { and, sql } from 'drizzle-orm'

import { signCoverOutputs, signUrl, trackPath } from '../../adapters/media.ts'
import { tracks } from '../../adapters/schema.ts'
import { jobs, type OwnVariant } from '../../adapters/work_schema.ts'
import type { System } from '../../context.ts'
import { type Rendition, toJobVariant } from '../../contract/catalogue.ts'
import type { TranscodeJob } from '../../contract/job.ts'
import { holds, type Job } from '../jobs.ts'
import { hasFinalFiles } from './files.ts'
import { trackOf } from './track_job.ts'
import { filePath, ownVariants, renditions } from './variant_spec.ts'

/** Seconds: long enough for the longest job, whose files are uploaded at its end. */
const URL_TTL = 6 * 3600
/** Seconds from which on a source is worth a first file of its own: a shorter one is done nearly as soon. */
const EARLY_FROM = 300

/** One transcode job with everything that it is about. */
export interface TranscodeTask {
  job: Job<'transcode'>
  track: Pick<
    typeof tracks.$inferSelect,
    'id' | 'organization_id' | 'collection_id' | 'index' | 'cover_path' | 'cover_job_id'
  >
  /** How far any attempt came, 0–1. */
  progress: number
  /** The organization's own variants that it makes. */
  own: OwnVariant[]
  renditions: Rendition[]
  /** Its `basePath`. */
  base: string
  /** Whether the track has files that are no early ones. */
  is_playable: boolean
}

/**
 * Loads what a job is about; null when the track is gone or has a newer job. The organization's variants are written into the job the
 * first time, so that whoever follows it later knows what it makes, whatever has become of them.
 */
export async function loadTask({ db }: System, job: Job<'transcode'>): Promise<TranscodeTask | null> {
  const { payload } = job
  const { id, organization_id, collection_id, index, cover_path, cover_job_id, progress } = tracks
  const [[found], defined] = await db.batch([
    db
      .select({
        id,
        organization_id,
        collection_id,
        index,
        cover_path,
        cover_job_id,
        progress,
        is_playable: sql<number>`${hasFinalFiles}`.as('is_playable'),
      })
      .from(tracks)
      // What is deleted with its collection or organization goes in the background.
      .where(
        and(
          trackOf(job),
          sql`exists (select 1 from collections, organizations
            where collections.id = collection_id and organizations.id = tracks.organization_id)`,
        ),
      ),
    ownVariants(db, job.organization_id),
  ])
  if (!found) return null
  const { is_playable, progress: reached, ...track } = found
  const own =
    payload.own ?? defined.map(({ organization_id: _organization, seq: _seq, created_at: _at, ...variant }) => variant)
  if (!payload.own) {
    const pinned = { ...payload, own }
    const kept = await db.update(jobs).set({ payload: pinned }).where(holds(job)).returning({ id: jobs.id })
    if (kept.length === 0) return null
  }
  return {
    job,
    track,
    progress: reached ?? 0,
    own,
    renditions: renditions(own),
    base: basePath(track, job.id),
    is_playable: is_playable === 1,
  }
}

/** The job as the transcoder is told it: every URL and every setting (`src/contract/job.ts`). */
export async function jobRequest(
  env: Env,
  { job, track, renditions, base, is_playable }: TranscodeTask,
): Promise<TranscodeJob> {
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

/** Storage prefix of what a job makes of a track; a new job never overwrites what is being played. */
export const basePath = (track: Parameters<typeof trackPath>[0], job_id: string) =>
  `${trackPath(track)}/${job_id.slice(-8)}`

/** Where a copy of the source's own stream goes; its format is the source's, so it has no extension. */
export const earlyPath = (base: string) => `${base}/early`

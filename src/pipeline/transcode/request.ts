import { eq, sql } from 'drizzle-orm'

import { FIRST_COVER } from '../../adapters/first_cover.ts'
import { signCoverOutputs, signUrl, trackPath } from '../../adapters/media.ts'
import { collections, organizations, tracks } from '../../adapters/schema.ts'
import { jobs, type OwnVariant } from '../../adapters/work_schema.ts'
import type { System } from '../../context.ts'
import { type Rendition, toJobVariant } from '../../contract/catalogue.ts'
import { withoutExtension } from '../../contract/facts.ts'
import type { JobPicture, JobTags, TranscodeJob } from '../../contract/job.ts'
import { holds, type Job } from '../jobs.ts'
import { namesOfSource } from '../upload.ts'
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
    'id' | 'organization_id' | 'collection_id' | 'folder_id' | 'index' | 'cover_path' | 'cover_job_id'
  >
  /** What its files say of themselves. */
  tags: JobTags
  /** Where the cover lies that they get, if there is one, and whether that inside the source counts for nothing. */
  picture: { path: string | null; wins: boolean }
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
  const { id, organization_id, collection_id, folder_id, index, cover_path, cover_job_id, progress } = tracks
  const { player_title, player_subtitle } = tracks
  const file_name = namesOfSource.file_name.as('file_name')
  const [[found], defined] = await db.batch([
    db
      .select({
        id,
        organization_id,
        collection_id,
        folder_id,
        index,
        cover_path,
        cover_job_id,
        progress,
        is_playable: sql<number>`${hasFinalFiles}`.as('is_playable'),
        set: { player_title, player_subtitle, file_name },
        // A batch has one value for each name of a column.
        around: {
          album: sql<string>`${collections.title}`.as('album'),
          subtitle: sql<string | null>`coalesce(${collections.player_subtitle}, ${organizations.player_subtitle})`.as(
            'subtitle',
          ),
          cover: sql<string | null>`coalesce(${collections.cover_path}, ${sql.raw(FIRST_COVER)} ->> '$.cover_path')`.as(
            'collection_cover',
          ),
          uses_tags: sql<number>`${organizations.uses_tags}`.as('uses_tags'),
          isOverridable: sql<number>`${organizations.is_cover_overridable} and ${collections.is_cover_overridable}`.as(
            'overridable',
          ),
        },
      })
      .from(tracks)
      // What is deleted with its collection or organization goes in the background.
      .innerJoin(collections, eq(collections.id, tracks.collection_id))
      .innerJoin(organizations, eq(organizations.id, tracks.organization_id))
      .where(trackOf(job)),
    ownVariants(db, job.organization_id),
  ])
  if (!found) return null
  const { is_playable, progress: reached, set, around, ...track } = found
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
    ...labelsOf(set, around, track),
    progress: reached ?? 0,
    own,
    renditions: renditions(own),
    base: basePath(track, job.id),
    is_playable: is_playable === 1,
  }
}

interface Own {
  player_title: string | null
  player_subtitle: string | null
  file_name: string
}
interface Around {
  album: string
  subtitle: string | null
  cover: string | null
  uses_tags: number
  isOverridable: number
}

/** What listeners see of a track (docs/architecture.md#inheritance), as far as it is not for its file to say. */
function labelsOf(set: Own, around: Around, { cover_path }: Pick<TranscodeTask['track'], 'cover_path'>) {
  const over = { title: set.player_title, artist: set.player_subtitle }
  const under = { title: withoutExtension(set.file_name), artist: around.subtitle, album: around.album }
  const own = around.isOverridable ? cover_path : null
  const usesTags = around.uses_tags === 1
  return {
    tags: { own: usesTags, over: withoutNulls(over), under: withoutNulls(under) },
    picture: { path: own ?? around.cover, wins: own !== null || !around.isOverridable || !usesTags },
  }
}

const withoutNulls = <T extends Record<string, string | null>>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as { [K in keyof T]?: string }

/** The picture with a URL to read it from. */
const signPicture = async (env: Env, { path, wins }: TranscodeTask['picture']): Promise<JobPicture> => ({
  url: path && (await signUrl(env, 'GET', `${path}/regular.jpg`, { expires_in: URL_TTL })),
  wins,
})

/** The job as the transcoder is told it: every URL and every setting (`src/contract/job.ts`). */
export async function jobRequest(
  env: Env,
  { job, track, tags, picture, renditions, base, is_playable }: TranscodeTask,
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
    cover:
      !tags.own || track.cover_path || track.cover_job_id
        ? null
        : await signCoverOutputs(env, `${base}/cover`, URL_TTL),
    early: is_playable ? null : { url: await sign(earlyPath(base)), from_duration: EARLY_FROM },
    tags,
    picture: await signPicture(env, picture),
  }
}

/** Storage prefix of what a job makes of a track; a new job never overwrites what is being played. */
export const basePath = (track: Parameters<typeof trackPath>[0], job_id: string) =>
  `${trackPath(track)}/${job_id.slice(-8)}`

/** Where a copy of the source's own stream goes; its format is the source's, so it has no extension. */
export const earlyPath = (base: string) => `${base}/early`

import { eq, sql } from 'drizzle-orm'

import { signCoverOutputs, signUrl } from '../../adapters/bucket/media.ts'
import { trackPath } from '../../adapters/bucket/track_paths.ts'
import { jobFolder } from '../../adapters/bucket/track_storage.ts'
import { FIRST_COVER } from '../../adapters/db/first_cover.ts'
import { collections, organizations, tracks } from '../../adapters/db/schema/library.ts'
import { jobs, type StoredVariant } from '../../adapters/db/schema/work.ts'
import type { System } from '../../context.ts'
import { type Rendition, toJobVariant } from '../../contract/catalog.ts'
import { withoutExtension } from '../../contract/facts.ts'
import type { JobPicture, JobTags, TranscodeJob } from '../../contract/job.ts'
import { withEdits } from '../edited_tags.ts'
import { isLeaseHolder, type Job } from '../jobs.ts'
import { hasFinalFiles } from '../stored_files.ts'
import { namesOfSource } from '../upload_handles.ts'
import { abortOutputs, openOutputs, signParts } from './output_parts.ts'
import { trackOf } from './track_job.ts'
import { filePath, findCustomVariants, renditions } from './variants.ts'

/** Seconds for which signed URLs are valid: long enough for the longest job, which uploads its files at the end. */
export const URL_TTL = 6 * 3600
/** Minimum duration in seconds of a source for which an early file is made. For shorter sources, the final files are ready almost as soon. */
export const EARLY_FROM = 30

/** A transcode job with all the data that it needs. */
export interface TranscodeTask {
  job: Job<'transcode'>
  track: Pick<
    typeof tracks.$inferSelect,
    'id' | 'organization_id' | 'collection_id' | 'folder_id' | 'index' | 'cover_path' | 'cover_job_id' | 'edited_tags'
  >
  /** Tags written into the track's files. */
  tags: JobTags
  /** Path of the cover that is embedded in the files, and whether it replaces a picture embedded in the source. */
  picture: { path: string | null; wins: boolean }
  /** The maximum progress that any attempt has reached, 0–1. */
  progress: number
  /** The organization's custom variants that the job makes. */
  customVariants: StoredVariant[]
  renditions: Rendition[]
  /** The job's `basePath`. */
  base: string
  /** Whether the track already has final files. */
  is_playable: boolean
}

/**
 * Loads the data of a job. Returns null when the track was deleted or has a newer job. The first call stores the organization's variants in the job,
 * so that every attempt makes the same variants, even if they are edited or deleted in the meantime. It also starts the multipart uploads of large
 * files.
 */
export async function loadTask(system: System, job: Job<'transcode'>): Promise<TranscodeTask | null> {
  const { db, env } = system
  let { payload } = job
  const { id, organization_id, collection_id, folder_id, index, cover_path, cover_job_id, edited_tags, progress } =
    tracks
  const { player_title, player_subtitle } = tracks
  const file_name = namesOfSource.file_name.as('file_name')
  const [[row], defined] = await db.batch([
    db
      .select({
        id,
        organization_id,
        collection_id,
        folder_id,
        index,
        cover_path,
        cover_job_id,
        edited_tags,
        progress,
        is_playable: sql<number>`${hasFinalFiles}`.as('is_playable'),
        labels: { player_title, player_subtitle, file_name },
        // These are nested objects, because a batch returns only one of two columns with the same name.
        inherited: {
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
      // An inner join excludes tracks whose collection or organization has been deleted: the rows of such tracks are deleted later, in the
      // background.
      .innerJoin(collections, eq(collections.id, tracks.collection_id))
      .innerJoin(organizations, eq(organizations.id, tracks.organization_id))
      .where(trackOf(job)),
    findCustomVariants(db, job.organization_id),
  ])
  if (!row) return null
  const { is_playable, progress: reached, labels, inherited, ...track } = row
  const customVariants =
    payload.custom_variants ??
    defined.map(({ organization_id: _organization, seq: _seq, created_at: _at, ...variant }) => variant)
  if (!payload.custom_variants) {
    const uploads = await openOutputs(env, basePath(track, job.id), renditions(customVariants), payload.source_size)
    payload = { ...payload, custom_variants: customVariants, ...(uploads.length > 0 && { uploads }) }
    const pinnedJobs = await db.update(jobs).set({ payload }).where(isLeaseHolder(job)).returning({ id: jobs.id })
    if (pinnedJobs.length === 0) {
      await abortOutputs(env, uploads)
      return null
    }
  }
  return {
    job: { ...job, payload },
    track,
    ...labelsOf(labels, inherited, track),
    progress: reached ?? 0,
    customVariants,
    renditions: renditions(customVariants),
    base: basePath(track, job.id),
    is_playable: is_playable === 1,
  }
}

interface TrackLabels {
  player_title: string | null
  player_subtitle: string | null
  file_name: string
}
interface InheritedLabels {
  album: string
  subtitle: string | null
  cover: string | null
  uses_tags: number
  isOverridable: number
}

/** The labels and the cover of a track as listeners see them (docs/architecture.md#inheritance), except those that come from the source file. */
function labelsOf(
  labels: TrackLabels,
  inherited: InheritedLabels,
  { cover_path, edited_tags }: Pick<TranscodeTask['track'], 'cover_path' | 'edited_tags'>,
) {
  const usesTags = inherited.uses_tags === 1
  const overrides = {
    ...(usesTags && withEdits({}, edited_tags)),
    ...withoutNulls({ title: labels.player_title, artist: labels.player_subtitle }),
  }
  const defaults = { title: withoutExtension(labels.file_name), artist: inherited.subtitle, album: inherited.album }
  const ownCover = inherited.isOverridable ? cover_path : null
  return {
    tags: { from_source: usesTags, overrides, defaults: withoutNulls(defaults) },
    picture: { path: ownCover ?? inherited.cover, wins: ownCover !== null || !inherited.isOverridable || !usesTags },
  }
}

const withoutNulls = <T extends Record<string, string | null>>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as { [K in keyof T]?: string }

/** Replaces the path of a picture by a signed URL to read it. */
const signPicture = async (env: Env, { path, wins }: TranscodeTask['picture']): Promise<JobPicture> => ({
  url: path && (await signUrl(env, 'GET', `${path}/regular.jpg`, { expires_in: URL_TTL })),
  wins,
})

/** The job in the form in which it is sent to the transcoder, with every URL and every setting (`src/contract/job.ts`). */
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
    known_seconds: job.payload.seconds ?? 0,
    variants: await Promise.all(
      renditions.map(async (rendition) => {
        const upload = job.payload.uploads?.find(({ index }) => index === rendition.index)
        const parts = upload && (await signParts(env, upload, URL_TTL))
        return toJobVariant(rendition, await sign(filePath(base, rendition)), parts)
      }),
    ),
    cover:
      !tags.from_source || track.cover_path || track.cover_job_id
        ? null
        : await signCoverOutputs(env, `${base}/cover`, URL_TTL),
    early: is_playable ? null : { url: await sign(earlyPath(base)), from_duration: EARLY_FROM },
    tags,
    picture: await signPicture(env, picture),
  }
}

/** Storage prefix of a job's files. Each job has its own prefix, so a new job never overwrites files that are still played. */
export const basePath = (track: Parameters<typeof trackPath>[0], job_id: string) =>
  `${trackPath(track)}/${jobFolder(job_id)}`

/** Path of the early file, which is a copy of the source's audio stream. The path has no extension, because the format depends on the source. */
export const EARLY = 'early'
export const earlyPath = (base: string) => `${base}/${EARLY}`

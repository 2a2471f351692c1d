import { and, eq, sql } from 'drizzle-orm'

import { type StoredFiles } from '../../adapters/bucket/track_files.ts'
import { jobFolder, storedFile, trackColumn, trackPathSql, uploadSuffix } from '../../adapters/bucket/track_storage.ts'
import type { EditedTags } from '../../adapters/db/column_types.ts'
import { runBatch } from '../../adapters/db/database.ts'
import { tracks } from '../../adapters/db/schema/library.ts'
import { packInfo } from '../../adapters/db/track_info.ts'
import type { System } from '../../context.ts'
import type { JobResult } from '../../contract/job.ts'
import type { TrackErrorCode } from '../../contract/track_errors.ts'
import { purge, purgeLaterFrom } from '../../domain/cleanup/purge.ts'
import { processedTagColumns, withEdits } from '../../domain/edited_tags.ts'
import { endJob, type Job, ifJustEnded } from '../../domain/jobs.ts'
import { definedFiles, filePaths, hasFinalFiles, pathsWithout } from '../../domain/stored_files.ts'
import { EARLY_FROM, earlyPath, type TranscodeTask } from '../../domain/transcode/request.ts'
import { failure, trackOf } from '../../domain/transcode/track_job.ts'
import { fileName, settingsOf } from '../../domain/transcode/variants.ts'
import { namesOfSource } from '../../domain/upload_handles.ts'
import { orderAlbum } from './album.ts'

/** The transcoded files, followed by the uploaded file as the variant `original`. */
function storedFiles({ job, renditions, customVariants }: TranscodeTask, result: JobResult): StoredFiles {
  const { source_path, source_size } = job.payload
  const made = result.variants.flatMap((file) => {
    const rendition = renditions.find(({ index }) => index === file.index)
    const variant_id = customVariants.find(({ index }) => index === file.index)?.id
    return rendition ? [storedFile(fileName(rendition), file, variant_id)] : []
  })
  const bitrate = Math.round(result.info.bitrate ?? 0)
  return {
    base: jobFolder(job.id),
    source: uploadSuffix(source_path),
    list: [...made, ['original', source_size, bitrate, result.duration]],
  }
}

/**
 * Ends a job successfully. One batch writes files, levels, duration, info and status (docs/architecture.md#how-audio-flows), and inserts the job that
 * purges the replaced files. When the track has a newer job or was deleted, the new files are purged instead. `hasEarly`: the transcoder has
 * reported an early file. `edited_text`: the tags that people have set, as JSON.
 */
export async function finishTranscode(
  system: System,
  task: TranscodeTask,
  result: JobResult,
  hasEarly: boolean,
  edited_text = task.track.edited_tags && JSON.stringify(task.track.edited_tags),
): Promise<void> {
  const { db } = system
  const { job, track, base } = task
  const { organization_id } = track
  const files = sql`${JSON.stringify(storedFiles(task, result))}`
  const info = {
    ...result.info,
    warnings: result.warnings,
    ...(result.failed.length > 0 && { failed_variants: result.failed }),
    ...(result.skipped.length > 0 && { skipped_variants: result.skipped }),
  }
  const settled = new Set([...result.variants, ...result.skipped].map(({ index }) => index))
  const settings = await settingsOf(task.renditions.filter(({ index }) => settled.has(index)))
  const ownsTrack = and(trackOf(job), ifJustEnded(job, 'done'))
  const isUnowned = sql`job_id is not ${job.id} and cover_path is not ${`${base}/cover`}`
  const lostTrack = and(eq(tracks.id, track.id), isUnowned, ifJustEnded(job, 'done'))
  // Variants may have been deleted during the transcode, so their files are left out.
  const keptFiles = definedFiles(files)
  const current = filePaths(sql`tracks.files`)
  const newFiles = filePaths(files)
  const newFilesAndEarly = sql`${newFiles} union all select ${earlyPath(base)}`
  // The transcoder may have uploaded an early file and then stopped before it reported the file.
  const mayHaveEarly = !hasEarly && !task.is_playable && result.duration >= EARLY_FROM
  const allFiles = sql`${current} union all ${mayHaveEarly ? newFilesAndEarly : newFiles}`
  // When a newer job reprocesses the track, the early file of this job is played until the newer job has its own. Then it is purged like any other
  // early file.
  const filesInUse = sql`${current} union all values (source_path), (upload_path)`
  const covers = sql`json_array(${`${base}/cover/`})`
  const coverless = sql`cover_path is null and cover_job_id is null`
  const edited = edited_text === null ? null : (JSON.parse(edited_text) as EditedTags)
  const editedText = sql<string | null>`edited_tags`
  const remainingTrack = db
    .select({ edited_text: editedText.as('edited_text') })
    .from(tracks)
    .where(eq(tracks.id, track.id))
  const hasOtherTags = sql`exists (select 1 from tracks where id = ${track.id} and ${editedText} is not ${edited_text})`
  const resultOf = await runBatch(db, [
    endJob(system, job, 'done', undefined, sql`not ${hasOtherTags}`),
    purgeLaterFrom(
      system,
      organization_id,
      pathsWithout(allFiles, filePaths(keptFiles)),
      sql`tracks where ${ownsTrack}`,
    ),
    purgeLaterFrom(
      system,
      organization_id,
      pathsWithout(newFilesAndEarly, filesInUse),
      sql`tracks where ${lostTrack}`,
      covers,
    ),
    db
      .update(tracks)
      .set({
        status: result.failed.length > 0 ? 'incomplete' : 'ready',
        ...namesOfSource,
        duration: Math.round(result.duration * 1000) / 1000,
        levels: result.levels,
        made_with: settings.join(''),
        progress: null,
        files: keptFiles,
        ...(result.tags && processedTagColumns(result.tags, edited, namesOfSource.folded)),
        ...(result.cover && {
          cover_path: sql`iif(${coverless}, ${`${base}/cover`}, cover_path)`,
          cover_colors: sql`iif(${coverless}, ${JSON.stringify(result.cover.image_colors)}, cover_colors)`,
          cover_size: sql`iif(${coverless}, ${result.cover.large ?? null}, cover_size)`,
        }),
        // A null in a JSON merge patch adds no field.
        info: sql`json_patch(${JSON.stringify(packInfo(info))}, json_object('replaced_uploads', info -> '$.replaced_uploads'))`,
      })
      .where(ownsTrack),
    remainingTrack,
    ...(task.tags.from_source && result.tags ? orderAlbum(db, job, track, withEdits(result.tags, edited)) : []),
  ])
  const [remaining] = resultOf(remainingTrack)
  if (!remaining) await purge(system, organization_id, [`${base}/`])
  // People have set other tags since they were read, so the batch had no effect.
  else if (remaining.edited_text !== edited_text)
    await finishTranscode(system, task, result, hasEarly, remaining.edited_text)
}

/** Ends a job as failed, and stores the reason in the track. */
export async function failTranscode(system: System, job: Job<'transcode'>, code: TrackErrorCode, message: string) {
  const { db } = system
  const info = failure(code, message, job.attempt)
  const ownsTrack = and(trackOf(job), ifJustEnded(job, 'failed'))
  // If the track has no final files, its early file is purged, because no final file will replace it. The files that the job has uploaded are purged as
  // well, whether it has reported them or not.
  const paths = sql`iif(${hasFinalFiles}, '[]', ${pathsWithout(filePaths(sql`files`), sql`select '' as path`)})`
  const uploaded = sql`json_array(${sql.raw(trackPathSql(trackColumn))} || ${`/${jobFolder(job.id)}/`})`
  await db.batch([
    endJob(system, job, 'failed', info.error),
    purgeLaterFrom(
      system,
      job.organization_id,
      sql`coalesce(${paths}, '[]')`,
      sql`tracks where ${ownsTrack}`,
      uploaded,
    ),
    db
      .update(tracks)
      .set({
        // A track that can already be played keeps its files.
        status: sql`case when ${hasFinalFiles} then 'incomplete' else 'failed' end`,
        duration: sql`case when ${hasFinalFiles} then duration else 0 end`,
        files: sql`case when ${hasFinalFiles} then files end`,
        progress: null,
        info: sql`json_patch(info, ${JSON.stringify(info)})`,
      })
      .where(ownsTrack),
  ])
}

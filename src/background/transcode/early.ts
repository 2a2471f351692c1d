import { and, eq, sql } from 'drizzle-orm'

import { type StoredFiles } from '../../adapters/bucket/track_files.ts'
import { jobFolder, storedFile } from '../../adapters/bucket/track_storage.ts'
import { tracks } from '../../adapters/db/schema/library.ts'
import { wakeIfSubscribed } from '../../adapters/queue/wake_webhooks.ts'
import type { System } from '../../context.ts'
import type { MadeVariant } from '../../contract/job.ts'
import { purgeLaterFrom } from '../../domain/cleanup/purge.ts'
import { ifLeaseHeld } from '../../domain/jobs.ts'
import { filePaths, hasFinalFiles, pathsWithout } from '../../domain/stored_files.ts'
import { EARLY, type TranscodeTask } from '../../domain/transcode/request.ts'
import { trackOf } from '../../domain/transcode/track_job.ts'
import { fileName } from '../../domain/transcode/variants.ts'
import { progressAt } from './progress.ts'

/**
 * Adds an early file to a track, so that the track can be played while its other files are made, and writes the job's progress in the same statement.
 * Returns false, and writes nothing, when the track already has this file or final files, or when the job no longer owns the track's status: the
 * transcoder reports the file again after every reconnect.
 */
export async function writeEarly(
  system: System,
  { job, track, renditions, customVariants }: TranscodeTask,
  { index, size, bitrate, duration }: MadeVariant,
  progress: number,
): Promise<boolean> {
  const { db } = system
  const rendition = renditions.find((candidate) => candidate.index === index)
  if (!rendition && index !== EARLY) return false
  const name = rendition ? fileName(rendition) : EARLY
  const variant_id = customVariants.find((candidate) => candidate.index === index)?.id
  const files: StoredFiles = {
    base: jobFolder(job.id),
    is_early: 1,
    list: [storedFile(name, { size, bitrate, duration }, variant_id)],
  }
  const json = JSON.stringify(files)
  const needsFile = and(trackOf(job), ifLeaseHeld(job), sql`not ${hasFinalFiles} and files is not ${json}`)
  // The early file of a job that ended when the track was moved to the trash.
  const replacedPaths = pathsWithout(filePaths(sql`files`), filePaths(sql`${json}`))
  const [, written] = await db.batch([
    purgeLaterFrom(system, track.organization_id, replacedPaths, sql`tracks where ${needsFile}`),
    db
      .update(tracks)
      .set({ duration: Math.round(duration * 1000) / 1000, files, progress: progressAt(progress) })
      .where(and(eq(tracks.id, track.id), needsFile))
      .returning({ id: tracks.id }),
  ])
  await wakeIfSubscribed(system, track.organization_id)
  return written.length > 0
}

import { and, eq, sql } from 'drizzle-orm'

import { type StoredFiles } from '../../adapters/bucket/track_files.ts'
import { jobFolder, storedFile } from '../../adapters/bucket/track_storage.ts'
import { tracks } from '../../adapters/db/schema/library.ts'
import type { System } from '../../context.ts'
import type { MadeVariant } from '../../contract/job.ts'
import { purgeLaterFrom } from '../cleanup/purge.ts'
import { ifLeaseHeld } from '../jobs.ts'
import { filePaths, hasFinalFiles, pathsWithout } from '../stored_files.ts'
import { wakeIfSubscribed } from '../webhooks/due.ts'
import { EARLY, type TranscodeTask } from './request.ts'
import { trackOf } from './track_job.ts'
import { fileName } from './variant_spec.ts'

/**
 * Adds an early file to a track, so that the track can be played while its other files are made. Does nothing when the track already has final files
 * or when the job no longer owns the track's status. Idempotent, because the transcoder reports the file again after every reconnect.
 */
export async function writeEarly(
  system: System,
  { job, track, renditions, customVariants }: TranscodeTask,
  { index, size, bitrate, duration }: MadeVariant,
) {
  const { db } = system
  const rendition = renditions.find((candidate) => candidate.index === index)
  if (!rendition && index !== 'early') return
  const name = rendition ? fileName(rendition) : EARLY
  const variant_id = customVariants.find((candidate) => candidate.index === index)?.id
  const files: StoredFiles = {
    base: jobFolder(job.id),
    is_early: 1,
    list: [storedFile(name, { size, bitrate, duration }, variant_id)],
  }
  const needsFile = and(trackOf(job), ifLeaseHeld(job), sql`not ${hasFinalFiles}`)
  // The early files of an upload that was replaced before its transcode ended.
  const replacedPaths = pathsWithout(filePaths(sql`files`), filePaths(sql`${JSON.stringify(files)}`))
  await db.batch([
    purgeLaterFrom(system, track.organization_id, replacedPaths, sql`tracks where ${needsFile}`),
    db
      .update(tracks)
      .set({ duration: Math.round(duration * 1000) / 1000, files })
      .where(and(eq(tracks.id, track.id), needsFile)),
  ])
  await wakeIfSubscribed(system, track.organization_id)
}

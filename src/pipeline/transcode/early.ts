import { and, eq, sql } from 'drizzle-orm'

import { tracks } from '../../adapters/schema.ts'
import type { TrackFile } from '../../adapters/track_files.ts'
import type { System } from '../../context.ts'
import type { MadeVariant } from '../../contract/job.ts'
import { whileHeld } from '../jobs.ts'
import { purgeLaterFrom } from '../purge.ts'
import { nudgeFor } from '../webhook.ts'
import { hasFinalFiles, pathsWithout } from './files.ts'
import { earlyPath, type TranscodeTask } from './request.ts'
import { trackOf } from './track_job.ts'
import { filePath } from './variant_spec.ts'

/**
 * Lets a track play from a first file while the rest is being made. Nothing happens when it plays already, or when the job is no longer
 * the one that the track waits for. May be repeated: who attaches again hears of the file again.
 */
export async function writeEarly(
  system: System,
  { job, track, renditions, own, base }: TranscodeTask,
  { index, size, bitrate, duration }: MadeVariant,
) {
  const { db } = system
  const rendition = renditions.find((one) => one.index === index)
  if (!rendition && index !== 'early') return
  const path = rendition ? filePath(base, rendition) : earlyPath(base)
  const variant_id = own.find((one) => one.index === index)?.id ?? null
  const files: TrackFile[] = [{ index, path, size, bitrate, duration, variant_id, is_early: 1 }]
  const free = and(trackOf(job), whileHeld(job), sql`not ${hasFinalFiles}`)
  // Of an upload that was replaced before it was done.
  const before = pathsWithout(sql`coalesce(files, '[]')`, sql`${JSON.stringify(files)}`)
  await db.batch([
    purgeLaterFrom(system, track.organization_id, before, sql`tracks where ${free}`),
    db
      .update(tracks)
      .set({ duration: Math.round(duration * 1000) / 1000, files })
      .where(and(eq(tracks.id, track.id), free)),
  ])
  await nudgeFor(system, track.organization_id)
}

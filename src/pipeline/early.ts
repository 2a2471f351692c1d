import { and, eq, ne, sql } from 'drizzle-orm'

import { insertFrom } from '../adapters/database.ts'
import { tracks, trackVariants } from '../adapters/schema.ts'
import { FILE_LIST } from '../adapters/track_files.ts'
import type { System } from '../context.ts'
import type { MadeVariant } from '../contract/job.ts'
import { earlyPath, type Work } from './ask.ts'
import { trackOf } from './finish.ts'
import { holds } from './job.ts'
import { purgeLater } from './purge.ts'
import { filePath } from './rendition.ts'

/**
 * Lets a track play from a first file while the rest is being made. Nothing happens when it plays already, or when the job is no longer
 * the one that the track waits for. May be repeated: a consumer that re-attaches hears of the file again.
 */
export async function writeEarly(system: System, { job, track, renditions, own, base }: Work, made: MadeVariant) {
  const { db } = system
  const rendition = renditions.find(({ index }) => index === made.index)
  if (!rendition && made.index !== 'early') return
  const path = rendition ? filePath(base, rendition) : earlyPath(base)
  const variant_id = own.find(({ index }) => index === made.index)?.id ?? null
  const ofTrack = eq(trackVariants.track_id, track.id)
  const free = sql`exists (select 1 from tracks where ${and(trackOf(job), sql`exists (select 1 from jobs where ${holds(job)})`)})
    and not exists (select 1 from track_variants as file where file.track_id = ${track.id} and file.is_early = 0)`
  const [before, , written] = await db.batch([
    // Of an upload that was replaced before it was done.
    db
      .select({ path: trackVariants.path })
      .from(trackVariants)
      .where(and(ofTrack, ne(trackVariants.path, path), free)),
    db.delete(trackVariants).where(and(ofTrack, free)),
    insertFrom(
      db,
      trackVariants,
      { ...made, track_id: track.id, path, variant_id, is_early: true },
      sql`(select 1) where ${free}`,
    ).returning({ path: trackVariants.path }),
    db
      .update(tracks)
      .set({ duration: Math.round(made.duration * 1000) / 1000, files: sql.raw(FILE_LIST) })
      .where(and(eq(tracks.id, track.id), free)),
  ])
  if (written.length === 0) return
  await purgeLater(
    system,
    track.organization_id,
    [],
    before.map((file) => file.path),
  )
}

import { and, type SQL, sql } from 'drizzle-orm'

import { trackPrefixes } from '../../adapters/bucket/media.ts'
import { inJsonList } from '../../adapters/db/database.ts'
import { removeFromPlaylists } from '../../adapters/db/playlist_order.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { tracks } from '../../adapters/db/schema/library.ts'
import { jobs } from '../../adapters/db/schema/work.ts'
import type { Context } from '../../context.ts'
import { inTrash, purgeJobs } from '../../domain/cleanup/purge.ts'

/** Number of tracks whose files one job purges. */
const PURGED = 25

type DeletableTrack = Pick<
  typeof tracks.$inferSelect,
  'id' | 'organization_id' | 'collection_id' | 'folder_id' | 'index' | 'job_id'
>

/**
 * Returns the batch that deletes those of the caller's tracks that meet a condition, and the purge jobs to pass to `startPurge`. `deletedTracks`
 * returns the ids of the deleted tracks. The remaining tracks keep their files and their playlist positions.
 */
export function deleteStatements(context: Context, rows: DeletableTrack[], condition?: SQL) {
  const { db, principal } = context
  const ids = inJsonList(rows.map(({ id }) => id))
  const isDeletable = and(sql`id in ${ids} and +organization_id = ${principal.organization_id}`, condition)
  const stays = (id: SQL) => (condition ? sql`(${inTrash(id)} or ${id} in (select id from tracks))` : inTrash(id))
  const isUnowned = sql`not exists (select 1 from tracks where id in ${ids} and job_id = jobs.id)`
  const chunks = Array.from({ length: Math.ceil(rows.length / PURGED) }, (_, at) =>
    rows.slice(at * PURGED, (at + 1) * PURGED),
  )
  const purges = chunks.map((chunk) =>
    purgeJobs(
      context,
      principal.organization_id,
      chunk.map((row) => ({ id: row.id, prefixes: trackPrefixes(row) })),
      {},
      stays,
    ),
  )
  const deletedTracks = db.delete(tracks).where(isDeletable).returning({ id: tracks.id })
  const statements = [
    recordEvents(context, 'track.deleted', sql`tracks where ${isDeletable}`, { is_trashed: false }),
    deletedTracks,
    ...purges.flatMap(({ inserts }) => inserts),
    ...removeFromPlaylists(context, sql`(select value from ${ids} where not ${stays(sql`value`)})`),
    // A track that was not deleted because of the condition still needs its job.
    db
      .update(jobs)
      .set({ state: 'done' })
      .where(and(sql`id in ${inJsonList(rows.map((row) => row.job_id))}`, condition && isUnowned)),
  ]
  return { statements, deletedTracks, purges: purges.map(({ purge }) => purge) }
}

import { type SQL, sql } from 'drizzle-orm'

import { HAS_FINAL_FILES, indexSql } from '../../adapters/bucket/track_storage.ts'
import { runBatch } from '../../adapters/db/database.ts'
import { playlists, playlistTracks } from '../../adapters/db/schema/library.ts'
import { jobs, reprocesses } from '../../adapters/db/schema/work.ts'
import type { System } from '../../context.ts'
import { insertRestoredTranscodes } from '../../domain/transcode/queue.ts'

/**
 * Makes the rows of a restored organization agree with each other (docs/decisions/0081): a backup reads its tables one after another while the
 * service changes them. All statements may run twice. Returns the number of transcodes that were queued again.
 */
export async function repairOrganization(system: System, organization_id: string): Promise<number> {
  const { db } = system
  const ofOrganization = sql`organization_id = ${organization_id}`
  const isProcessing = sql`status in ('processing', 'fallback_processing')`
  const hasJob = sql`exists (select 1 from jobs where jobs.id = tracks.job_id and jobs.state = 'open')`
  const isInterrupted = sql`${ofOrganization} and ${isProcessing} and not ${hasJob}`
  const [takeJobs, queue] = insertRestoredTranscodes(system, organization_id, isInterrupted)
  const resultOf = await runBatch(db, [
    // Jobs of tracks that were finished after the jobs had been read.
    db.delete(jobs).where(sql`${ofOrganization} and state = 'open' and rank is not null and not exists (
      select 1 from tracks where tracks.job_id = jobs.id and ${isProcessing})`),
    db.delete(reprocesses).where(sql`${ofOrganization} and state = 'running' and not exists (
      select 1 from jobs where jobs.id = reprocesses.job_id and jobs.state = 'open')`),
    db
      .update(playlistTracks)
      .set({ position: sql`ranked.place` })
      .from(
        sql`(select entry.id as place_id, row_number() over (partition by playlist_id order by position) - 1 as place
          from playlists join playlist_tracks as entry on playlist_id = playlists.id where playlists.${ofOrganization}) as ranked`,
      )
      .where(sql`${playlistTracks.id} = place_id and ${playlistTracks.position} <> place`),
    db
      .update(playlists)
      .set({ track_count: sql`(select count(*) from playlist_tracks where playlist_id = playlists.id)` })
      .where(ofOrganization),
    takeJobs,
    queue,
  ])
  await db.run(recountUsage(organization_id))
  return resultOf(queue).length
}

/**
 * Adds the difference between the tracks and the counted usage (docs/decisions/0055) to the days that are no longer reported separately. Uploads and
 * sessions are not counted again: their rows may be deleted already.
 */
function recountUsage(organization_id: string): SQL {
  const counted = sql`organization_id = ${organization_id}`
  const stored = sql`tracks where ${counted} and ${sql.raw(HAS_FINAL_FILES)}`
  const name = sql.raw(indexSql('(value ->> 0)'))
  const sums = (rows: SQL) => sql`(select json_group_object(name, json_array(bytes, files)) from (
    select name, sum(bytes) as bytes, sum(files) as files from (${rows}) group by name having sum(bytes) <> 0 or sum(files) <> 0))`
  const entries = (files: SQL) =>
    sql`select key as name, value ->> 0 as bytes, value ->> 1 as files from json_each(${files})`
  const difference = sums(sql`
    select ${name} as name, value ->> 1 as bytes, 1 as files from tracks, json_each(tracks.files, '$.list')
      where ${counted} and ${sql.raw(HAS_FINAL_FILES)}
    union all select key, -(value ->> 0), -(value ->> 1) from usage_days, json_each(usage_days.files) where ${counted}`)
  return sql`insert into usage_days (organization_id, date, milliseconds, files)
    select ${organization_id}, '', milliseconds, files from (select
      (select coalesce(sum(cast(round(duration * 1000) as integer)), 0) from ${stored})
        - (select coalesce(sum(milliseconds), 0) from usage_days where ${counted}) as milliseconds,
      ${difference} as files)
    where milliseconds <> 0 or files <> '{}'
    on conflict (organization_id, date) do update set milliseconds = milliseconds + excluded.milliseconds,
      files = ${sums(sql`${entries(sql`usage_days.files`)} union all ${entries(sql`excluded.files`)}`)}`
}

import { type SQL, sql } from 'drizzle-orm'

import { tracks } from '../../adapters/db/schema/library.ts'
import { jobs } from '../../adapters/db/schema/work.ts'
import type { System } from '../../context.ts'
import { DAY, HOUR } from '../../contract/time.ts'
import { insertJob, insertJobFrom, type Job } from '../jobs.ts'
import { IMPORT_CLASS, SIZE_CLASSES, sizeClassOf } from './slots.ts'

/** The transcode queue, which is fair between organizations (docs/decisions/0033). */

/**
 * A job costs as many milliseconds of its organization's fair share as its audio lasts: at first as audio of 128 kbit/s, and once the transcoder knows
 * its length, as that. All transcoders are faster, so the organization that has waited longest comes first.
 */
const BYTES_PER_MS = 16
/** Minimum cost in milliseconds. A slot may take as long for a tiny file, because it decodes minutes of audio before it hands the job back. */
const MIN_COST = 10_000
/** Maximum cost in milliseconds. Without this limit, a large file would delay the next file of the organization for days. */
const MAX_COST = HOUR
/** Milliseconds that an import costs. It is little, because imports have separate slots, and the file costs its share when it is transcoded. */
const IMPORT_COST = 1000
/** Milliseconds added to the rank of jobs that reprocess a collection, so that they come after every upload. */
const BACKGROUND_DELAY = 365 * DAY

/** The `wake_at` of a queued transcode, which is never woken individually. */
const NEVER = Number.MAX_SAFE_INTEGER

/** Whether a job is waiting for a slot. */
export const isQueued = sql`state = 'open' and rank is not null and slot is null`

/**
 * Returns the statement that queues a transcode. Jobs are ranked by fair share: a job's rank is the time at which its organization would have used up
 * its share, counted from now or from its last queued job. As a result, many files of one organization do not delay a file of another organization.
 */
export function insertTranscode(system: System, organization_id: string, payload: Job<'transcode'>['payload']) {
  const { source_size, reprocess_id } = payload
  const { now } = system
  return insertJob(system, organization_id, payload, 0, {
    is_background: reprocess_id !== undefined,
    size_class: sizeClassOf(source_size),
    wake_at: NEVER,
    rank: reprocess_id ? now + BACKGROUND_DELAY : sql`${nextRank(system, organization_id)} + ${costOf(source_size)}`,
  })
}

/**
 * Returns the statement that queues an import, if the source has a row (`tracks where …`). Its rank is a fair share like that of a transcode.
 */
export const insertImport = (
  system: System,
  { id, organization_id, payload }: Pick<Job<'import'>, 'id' | 'organization_id' | 'payload'>,
  source: SQL,
) =>
  insertJobFrom(system, organization_id, { kind: 'import', json: sql`${JSON.stringify(payload)}` }, source, 0, {
    id: sql`${id}`,
    size_class: IMPORT_CLASS,
    wake_at: NEVER,
    rank: sql`${nextRank(system, organization_id)} + ${IMPORT_COST}`,
  })

/** Milliseconds of its organization's fair share that a transcode costs. */
const costOf = (source_size: number) => limitCost(source_size / BYTES_PER_MS)
const limitCost = (cost: number) => Math.min(MAX_COST, Math.max(MIN_COST, Math.ceil(cost)))
const nextRank = ({ now }: { now: number }, organization_id: string) => sql`max(${now}, coalesce((
  select max(rank) from jobs where organization_id = ${organization_id}
    and state = 'open' and rank is not null and is_background = 0), 0))`

/**
 * Returns the columns of a job that is queued again with a known length in seconds: it comes after the other jobs of its organization and costs its
 * length. The payload is changed in SQL, because the job may have stored its variants in it since it was read.
 */
export const requeuedColumns = ({ organization_id, is_background }: Job<'transcode'>, seconds: number) => ({
  payload: sql`json_set(payload, '$.seconds', ${seconds})`,
  ...(!is_background && {
    rank: sql`${nextRank({ now: Date.now() }, organization_id)} + ${limitCost(seconds * 1000)}`,
  }),
})

/** A source and the id of the job that transcodes it. */
export interface QueuedSource {
  job_id: string
  track_id: string
  source_path: string
  source_size: number
}

/** Returns the statement that queues many sources of one organization, for tracks that match `condition`. */
export function insertTranscodes(system: System, organization_id: string, sources: QueuedSource[], condition: SQL) {
  const queued = sources.map((source) => ({
    ...source,
    size_class: sizeClassOf(source.source_size),
    rank: costOf(source.source_size),
  }))
  const field = (name: string) => sql.raw(`source.value ->> '${name}'`)
  const payload = sql`json_object('kind', 'transcode', 'track_id', tracks.id, 'source_path', ${field('source_path')},
    'source_size', ${field('source_size')})`
  const source = sql`json_each(${JSON.stringify(queued)}) as source cross join tracks
    where tracks.id = ${field('track_id')} and +tracks.organization_id = ${organization_id} and tracks.source_path = ${field('source_path')} and ${condition}`
  return insertJobFrom(system, organization_id, { kind: 'transcode', json: payload }, source, 0, {
    id: field('job_id'),
    size_class: field('size_class'),
    wake_at: NEVER,
    rank: sql`${nextRank(system, organization_id)} + sum(${field('rank')}) over (order by source.key)`,
  })
}

/** An SQL expression that generates a new id for each row, in the same format as `newId`. */
const NEW_ID = `lower('000' || substr(hex(randomblob(3)), 2) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)
  || '-8' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`

/**
 * Returns the statements that restart transcodes that were interrupted when their tracks were moved to the trash. They belong in the batch that
 * restores the tracks. The second statement returns the jobs; wake one of them. The jobs have new ids, because the files of the previous jobs are
 * deleted.
 */
export function insertRestoredTranscodes(system: System, organization_id: string, isRestored: SQL) {
  const payload = sql`json_object('kind', 'transcode', 'track_id', id, 'source_path', source_path, 'source_size', source_size)`
  const restoredTracks = sql`tracks where ${isRestored} and status = 'processing'`
  return [
    system.db
      .update(tracks)
      .set({ job_id: sql.raw(NEW_ID), status: 'processing', progress: 0 })
      .where(sql`${isRestored} and status in ('processing', 'fallback_processing')`),
    insertJobFrom(system, organization_id, { kind: 'transcode', json: payload }, restoredTracks, 0, {
      id: sql`job_id`,
      size_class: sql.join(
        SIZE_CLASSES.slice(0, -1).map((most) => sql`(source_size > ${most})`),
        sql` + `,
      ),
      wake_at: NEVER,
      rank: sql`${nextRank(system, organization_id)}
        + sum(min(${MAX_COST}, max(${MIN_COST}, (source_size + ${BYTES_PER_MS - 1}) / ${BYTES_PER_MS}))) over (order by "order", id)`,
    }).returning({ id: jobs.id }),
  ] as const
}

import { and, eq, sql } from 'drizzle-orm'

import { insertFrom } from '../../adapters/db/database.ts'
import { jobs, reprocesses } from '../../adapters/db/schema/work.ts'
import type { Context, Handlers } from '../../context.ts'
import type { Reprocess, reprocessOperations } from '../../contract/reprocess.ts'
import { notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/time.ts'
import { insertJob, sendJob } from '../../domain/jobs.ts'
import { findCustomVariants, renditions, settingsOf } from '../../domain/transcode/variants.ts'
import { findCollection } from './collection.ts'

type ReprocessRow = typeof reprocesses.$inferSelect

const toReprocess = (row: ReprocessRow): Reprocess => ({
  ...row,
  // Tracks may have been added since the reprocess started.
  total: Math.max(row.total, row.done + row.failed),
  started_at: timestamp(row.started_at),
  finished_at: row.finished_at === null ? null : timestamp(row.finished_at),
})

const find = ({ db }: Context, collection_id: string) =>
  db.select().from(reprocesses).where(eq(reprocesses.collection_id, collection_id)).get()

export const reprocessHandlers: Handlers<typeof reprocessOperations> = {
  /**
   * A reprocess that is already running continues, unless the variants have changed or this request sets `all` for the first time. In these cases it
   * starts again.
   */
  async reprocessCollection({ params, body: { all } }, context) {
    const { db, principal, now } = context
    const { organization_id } = principal
    const { id: collection_id } = await findCollection(context, params.collection_id)
    const wanted = await settingsOf(renditions(await findCustomVariants(db, organization_id)))
    const job = insertJob(context, organization_id, { kind: 'reprocess', collection_id })
    const row = {
      job_id: job.id,
      state: 'running' as const,
      all,
      wanted,
      cursor: '',
      waiting: [],
      total: sql`coalesce((select count from list_counts
        where list = ${`tracks:${collection_id}`} and level = 0 and bucket = 0), 0)`,
      done: 0,
      failed: 0,
      started_at: now,
      finished_at: null,
    }
    const outdated = sql`state = 'done' or wanted <> ${JSON.stringify(wanted)} or "all" < ${Number(all)}`
    // If the collection has just been deleted, this inserts no row.
    const source = sql`collections where id = ${collection_id}`
    const [, started] = await db.batch([
      job.insert,
      insertFrom(db, reprocesses, { ...row, collection_id, organization_id }, source)
        .onConflictDoUpdate({ target: reprocesses.collection_id, set: row, setWhere: outdated })
        .returning(),
      db
        .delete(jobs)
        .where(
          and(
            eq(jobs.id, job.id),
            sql`not exists (select 1 from reprocesses where collection_id = ${collection_id} and job_id = ${job.id})`,
          ),
        ),
    ])
    if (started.length > 0) await sendJob(context, job)
    const current = started[0] ?? (await find(context, collection_id))
    if (!current) throw notFound('collection')
    return { collection_id, reprocess: toReprocess(current) }
  },

  async getCollectionReprocess({ params }, context) {
    const { id: collection_id } = await findCollection(context, params.collection_id)
    const row = await find(context, collection_id)
    return { collection_id, reprocess: row ? toReprocess(row) : null }
  },
}

import { and, eq, getTableColumns, sql, type SQL } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'

import { isBlob } from '../../adapters/db/column_types.ts'
import { insertFrom, runBatch } from '../../adapters/db/database.ts'
import { restoreEntries, hiddenEntriesOf } from '../../adapters/db/playlist_order.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { listCounts } from '../../adapters/db/schema/counters.ts'
import { TABLE_OF } from '../../adapters/db/schema/library.ts'
import { trash } from '../../adapters/db/schema/trash.ts'
import type { Context, Handlers } from '../../context.ts'
import type { PlayScope } from '../../contract/play.ts'
import type { TrashedItem, trashOperations } from '../../contract/trash.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/time.ts'
import { purgeLaterFrom } from '../../pipeline/cleanup/purge.ts'
import { deleteItems, deleteTrashed, MAX_DELETED } from '../../pipeline/cleanup/trash.ts'
import { sendJob } from '../../pipeline/jobs.ts'
import { definedFiles, filePaths, pathsWithout } from '../../pipeline/stored_files.ts'
import { cancelUnwanted } from '../../pipeline/transcode/cancel_unwanted.ts'
import { insertRestoredTranscodes } from '../../pipeline/transcode/queue.ts'
import { readPage } from '../list/page.ts'

const { content: _content, folder_id: _folder_id, ...itemColumns } = getTableColumns(trash)
type TrashRow = Omit<typeof trash.$inferSelect, 'content' | 'folder_id'>

const toItem = (row: TrashRow): TrashedItem => ({
  ...row,
  trashed_at: timestamp(row.trashed_at),
  expires_at: timestamp(row.expires_at),
})

const isOwnedByCaller = ({ principal }: Context, id: string) =>
  and(eq(trash.id, id), eq(trash.organization_id, principal.organization_id))

const itemNotFound = () => notFound('item in the trash')

/**
 * Returns expressions that read the columns from the stored content. A column that was added to the table later has its default value. Bytes are
 * stored as hexadecimal text (move_to_trash.ts).
 */
function columnsFromContent(table: (typeof TABLE_OF)[PlayScope]): Record<string, SQL> {
  const columns = Object.entries(getTableColumns(table)).map(([name, column]) => {
    const text = `content ->> '${name}'`
    const value = sql.raw(isBlob(column) ? `unhex(${text})` : text)
    const { notNull, default: initial } = column
    return [name, notNull && initial !== undefined ? sql`coalesce(${value}, ${sql.param(initial, column)})` : value]
  })
  return Object.fromEntries(columns) as Record<string, SQL>
}

/**
 * Returns an expression for the number that orders a row in its list: its previous number, or the one after the last row if another row has that
 * number now.
 */
function orderFromContent(table: string, owner: string, key: string): SQL {
  const previousOrder = `content ->> '${key}'`
  const otherRows = `"${table}" as others where others."${owner}" = content ->> '${owner}'`
  return sql.raw(`iif(exists (select 1 from ${otherRows} and others."${key}" = ${previousOrder}),
    (select max(others."${key}") + 1 from ${otherRows}), ${previousOrder})`)
}

const files = sql`content ->> 'files'`
const inContent = (name: string) => `(content ->> '${name}')`
/** The files of variants that still exist. An early file is left out, because it was deleted together with its job. */
const keptFiles = sql`iif(${files} is null or (${files}) ->> '$.is_early' = 1, null, ${definedFiles(files)})`

/** The columns that a restore changes. */
const CHANGED_COLUMNS: Record<PlayScope, (now: number) => Record<string, SQL>> = {
  track: (now) => ({
    order: orderFromContent('tracks', 'collection_id', 'order'),
    files: keptFiles,
    // The id of a cover job that has ended in the meantime is removed.
    cover_job_id: sql`iif(content ->> 'cover_path' is not null or exists (
      select 1 from jobs where id = content ->> 'cover_job_id' and state = 'open'), content ->> 'cover_job_id', null)`,
    // The track's upload may have arrived while it was in the trash, so the next check is due now.
    next_check_at: sql`${now}`,
  }),
  collection: () => ({ seq: orderFromContent('collections', 'organization_id', 'seq') }),
  playlist: () => ({
    seq: orderFromContent('playlists', 'organization_id', 'seq'),
    // The count starts at zero, because the restored tracks are counted when their rows are inserted again.
    track_count: sql`0`,
    version: sql`content ->> 'version' + 1`,
  }),
}

async function findItem(context: Context, id: string): Promise<TrashRow> {
  const row = await context.db.select(itemColumns).from(trash).where(isOwnedByCaller(context, id)).get()
  if (!row) throw itemNotFound()
  return row
}

/**
 * Returns the batch that restores an item: its row, its playlist positions, and its interrupted transcodes. `insert` returns the row, and
 * `startedJobs` returns the jobs.
 */
function restoration(context: Context, { id, scope, organization_id }: TrashRow) {
  const { db, now } = context
  const table = TABLE_OF[scope]
  const isItem = isOwnedByCaller(context, id)
  const source =
    scope === 'track'
      ? sql`trash where ${isItem} and exists (select 1 from collections where collections.id = trash.collection_id)`
      : sql`trash where ${isItem}`
  const hiddenEntries = {
    track: [sql`track_id = ${id}`],
    collection: [sql`track_id in (select id from tracks where collection_id = ${id})`],
    playlist: hiddenEntriesOf(id),
  }
  const isRestored = scope === 'track' ? sql`id = ${id}` : sql`collection_id = ${id}`
  const unused = pathsWithout(filePaths(files, inContent), filePaths(keptFiles, inContent))
  const transcodes = scope === 'playlist' ? null : insertRestoredTranscodes(context, organization_id, isRestored)
  const otherStatements: BatchItem<'sqlite'>[] = [
    ...(scope === 'track' ? [purgeLaterFrom(context, organization_id, unused, source)] : []),
    ...hiddenEntries[scope].flatMap((condition) => [...restoreEntries(context, condition, scope !== 'playlist')]),
    recordEvents(
      context,
      `${scope}.created`,
      sql`${table} where id = ${id} and exists (select 1 from trash where ${isItem})`,
      {
        is_restored: true,
      },
    ),
    db.delete(trash).where(and(isItem, sql`exists (select 1 from ${table} where id = ${id})`)),
    ...(transcodes ?? []),
  ]
  const values = { ...columnsFromContent(table), ...CHANGED_COLUMNS[scope](now) }
  const insert = insertFrom(db, table, values as never, source).returning({ id: table.id })
  return { statements: [insert, ...otherStatements], insert, startedJobs: transcodes?.[1] }
}

export const trashHandlers: Handlers<typeof trashOperations> = {
  async listTrash({ query }, { db, principal }) {
    const list = {
      name: `trash:${principal.organization_id}`,
      table: trash,
      key: trash.seq,
      descending: true,
      of: eq(trash.organization_id, principal.organization_id),
    }
    const { rows, count } = await readPage(db, list, query, itemColumns)
    return { count, trash: rows.map(toItem) }
  },

  async restoreTrash({ params: { trash_id } }, context) {
    const item = await findItem(context, trash_id)
    const { statements, insert, startedJobs } = restoration(context, item)
    const resultOf = await runBatch(context.db, statements)
    if (resultOf(insert).length === 0) {
      await findItem(context, trash_id)
      const parent = await context.db
        .select(itemColumns)
        .from(trash)
        .where(isOwnedByCaller(context, item.collection_id!))
        .get()
      if (!parent) throw notFound('collection')
      throw new ApiError('collection_in_trash', `${parent.title}, its collection, is in the trash; restore that first`)
    }
    if (startedJobs) {
      const [job] = resultOf(startedJobs)
      if (job) await sendJob(context, { id: job.id, payload: { kind: 'transcode' } })
      await cancelUnwanted(context)
    }
    return { trash_id, restored_trash: toItem(item) }
  },

  async deleteTrash({ params: { trash_id } }, context) {
    const item = await context.db.select().from(trash).where(isOwnedByCaller(context, trash_id)).get()
    if (!item || !(await deleteTrashed(context, item))) throw itemNotFound()
    return { trash_id, deleted_trash: toItem(item) }
  },

  async emptyTrash(_input, context) {
    const { db, principal } = context
    const ofOrganization = eq(trash.organization_id, principal.organization_id)
    const items = await db.select().from(trash).where(ofOrganization).orderBy(trash.seq).limit(MAX_DELETED)
    const deleted = await deleteItems(context, items)
    const counted = and(eq(listCounts.list, `trash:${principal.organization_id}`), eq(listCounts.level, 0))
    const remaining = await db.select({ count: listCounts.count }).from(listCounts).where(counted).get()
    return { deleted, left: remaining?.count ?? 0 }
  },
}

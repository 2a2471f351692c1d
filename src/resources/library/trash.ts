import { and, eq, getTableColumns } from 'drizzle-orm'

import { batchesWith, runBatch } from '../../adapters/db/database.ts'
import { listCounts } from '../../adapters/db/schema/counters.ts'
import { trash } from '../../adapters/db/schema/trash.ts'
import type { Context, Handlers } from '../../context.ts'
import type { TrashedItem, trashOperations } from '../../contract/trash.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/time.ts'
import { deleteItems, deleteTrashed, MAX_DELETED } from '../../domain/cleanup/trash.ts'
import { sendJob } from '../../domain/jobs.ts'
import { cancelUnwanted } from '../../domain/transcode/cancel_unwanted.ts'
import { readPage } from '../list/page.ts'
import { restoration } from './restore_from_trash.ts'

const { content: _content, folder_id: _folder_id, ...itemColumns } = getTableColumns(trash)
type TrashRow = Omit<typeof trash.$inferSelect, 'content' | 'folder_id'>

const toItem = (row: TrashRow): TrashedItem => ({
  ...row,
  trashed_at: timestamp(row.trashed_at),
  expires_at: timestamp(row.expires_at),
})

const isOwnedByCaller = ({ principal }: Context, id: string) =>
  and(eq(trash.id, id), eq(trash.organization_id, principal.organization_id))

/** Returns the error for something that is not in the trash. */
export const itemNotFound = () => notFound('item in the trash')

/** Returns the error for a track whose collection, with this title, is in the trash. */
export const collectionInTrash = (title: string) =>
  new ApiError('collection_in_trash', `${title}, its collection, is in the trash; restore that first`)

/** Starts the transcodes of restored tracks, and frees the slots of those that were interrupted. */
export async function startRestored(context: Context, [job]: { id: string }[]): Promise<void> {
  if (job) await sendJob(context, { id: job.id, payload: { kind: 'transcode' } })
  await cancelUnwanted(context)
}

async function findItem(context: Context, id: string): Promise<TrashRow> {
  const row = await context.db.select(itemColumns).from(trash).where(isOwnedByCaller(context, id)).get()
  if (!row) throw itemNotFound()
  return row
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
    const { rows, count } = await readPage(batchesWith(db), list, query, itemColumns)
    return { count, trash: rows.map(toItem) }
  },

  async restoreTrash({ params: { trash_id } }, context) {
    const item = await findItem(context, trash_id)
    const { statements, insert, startedJobs } = restoration(context, item.scope, [trash_id])
    const resultOf = await runBatch(context.db, statements)
    if (resultOf(insert).length === 0) {
      await findItem(context, trash_id)
      const parent = await context.db
        .select(itemColumns)
        .from(trash)
        .where(isOwnedByCaller(context, item.collection_id!))
        .get()
      throw parent ? collectionInTrash(parent.title) : notFound('collection')
    }
    if (startedJobs) await startRestored(context, resultOf(startedJobs))
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

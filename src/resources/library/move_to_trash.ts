import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'

import { isBlob } from '../../adapters/db/column_types.ts'
import { inList, insertFrom, runBatch } from '../../adapters/db/database.ts'
import { hideEntries } from '../../adapters/db/playlist_order.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { TABLE_OF, uploadSessions } from '../../adapters/db/schema/library.ts'
import { trash } from '../../adapters/db/schema/trash.ts'
import { jobs, reprocesses } from '../../adapters/db/schema/work.ts'
import type { Context } from '../../context.ts'
import { TRASH_TTL } from '../../contract/facts.ts'
import type { PlayScope } from '../../contract/play.ts'
import { notFound } from '../../core/errors.ts'
import { cancelUnwanted } from '../../domain/transcode/cancel_unwanted.ts'
import { TITLES } from './titles.ts'

type Table = (typeof TABLE_OF)[PlayScope]

/** Maximum number of columns in one function call: each column takes two of at most 32 arguments (D1, Limits). */
const AT_ONCE = 16

/** Returns a row as JSON. Columns that hold bytes are hexadecimal, because JSON has no type for bytes. */
function packed(table: Table): SQL {
  const pairs = Object.values(getTableColumns(table))
    .filter(({ generated }) => !generated)
    .map((column) => sql`${sql.raw(`'${column.name}'`)}, ${isBlob(column) ? sql`hex(${column})` : column}`)
  const parts = Array.from({ length: Math.ceil(pairs.length / AT_ONCE) }, (_, at) => {
    const part = pairs.slice(at * AT_ONCE, (at + 1) * AT_ONCE)
    return sql`json_object(${sql.join(part, sql`, `)})`
  })
  return parts.reduce((all, part) => sql`json_patch(${all}, ${part})`)
}

/**
 * Returns the batch that moves resources of one kind into the trash, with their rows and their positions in playlists. The tracks of a collection keep their
 * rows, but no request finds them without the collection. `insert` returns the ids of the moved resources; `cancelUnwanted` is due afterwards.
 */
export function trashStatements(context: Context, scope: PlayScope, ids: readonly string[]) {
  const { db, principal, now } = context
  const { organization_id } = principal
  const table = TABLE_OF[scope]
  const list = inList(ids)
  const isOwned = sql`${table.id} in ${list} and +${table.organization_id} = ${organization_id}`
  const extraStatements: Record<PlayScope, () => BatchItem<'sqlite'>[]> = {
    track: () => [
      ...hideEntries(context, sql`track_id in (select id from tracks where ${isOwned})`, 'alone'),
      db
        .update(jobs)
        .set({ state: 'done' })
        .where(sql`id in (select job_id from tracks where ${isOwned})`),
    ],
    collection: () => [
      ...hideEntries(context, sql`track_id in (select id from tracks where collection_id in ${list})`, 'alone'),
      db.delete(uploadSessions).where(sql`collection_id in ${list}`),
      db.delete(reprocesses).where(sql`collection_id in ${list}`),
    ],
    playlist: () => [...hideEntries(context, sql`playlist_id in ${list}`, 'whole')],
  }
  const insert = insertFrom(
    db,
    trash,
    {
      id: sql`id`,
      organization_id,
      scope,
      title: TITLES[scope],
      collection_id: scope === 'track' ? sql`collection_id` : null,
      folder_id: scope === 'track' ? sql`folder_id` : null,
      seq: sql`(select coalesce(max(seq), 0) from trash where organization_id = ${organization_id}) + row_number() over ()`,
      trashed_at: now,
      expires_at: now + TRASH_TTL * 1000,
      content: packed(table),
    },
    sql`${table} where ${isOwned}`,
  ).returning({ id: trash.id })
  const statements = [
    insert,
    ...extraStatements[scope](),
    recordEvents(context, `${scope}.deleted`, sql`${table} where ${isOwned}`, { is_trashed: true }),
    db.delete(table).where(isOwned),
  ]
  return { insert, statements }
}

/** Moves a resource into the trash, and cancels the transcodes of its tracks. Throws 404 when the resource no longer exists. */
export async function moveToTrash(context: Context, scope: PlayScope, id: string): Promise<void> {
  const { insert, statements } = trashStatements(context, scope, [id])
  const resultOf = await runBatch(context.db, statements)
  if (scope !== 'playlist') await cancelUnwanted(context)
  if (resultOf(insert).length === 0) throw notFound(scope)
}

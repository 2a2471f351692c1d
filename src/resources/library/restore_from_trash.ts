import { getTableColumns, sql, type SQL } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'

import { isBlob } from '../../adapters/db/column_types.ts'
import { inList, insertFrom } from '../../adapters/db/database.ts'
import { hiddenEntriesOf, restoreEntries } from '../../adapters/db/playlist_order.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { TABLE_OF } from '../../adapters/db/schema/library.ts'
import { trash } from '../../adapters/db/schema/trash.ts'
import type { Context } from '../../context.ts'
import type { PlayScope } from '../../contract/play.ts'
import { purgeLaterFrom } from '../../domain/cleanup/purge.ts'
import { definedFiles, filePaths, pathsWithout } from '../../domain/stored_files.ts'
import { insertRestoredTranscodes } from '../../domain/transcode/queue.ts'

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
 * Returns an expression for the number that orders a row in its list: its previous number, or one after the last row if another row has that number now, or
 * gets it in the same statement.
 */
function orderFromContent(table: string, owner: string, key: string): SQL {
  const previous = `(content ->> '${key}')`
  const list = `(content ->> '${owner}')`
  const otherRows = `"${table}" as others where others."${owner}" = ${list}`
  const isTaken = `exists (select 1 from ${otherRows} and others."${key}" = ${previous})`
  const last = `max(coalesce((select max(others."${key}") from ${otherRows}), 0), max(${previous}) over (partition by ${list}))`
  return sql.raw(`iif(${isTaken} or row_number() over (partition by ${list}, ${previous} order by trash.seq) > 1,
    ${last} + row_number() over (partition by ${list} order by ${previous}, trash.seq), ${previous})`)
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
    // The URL from which a file was fetched was deleted together with the row, so the track no longer waits for it.
    upload_expires_at: sql`iif(content ->> 'status' = 'initializing' and content ->> 'progress' is not null, ${now}, content ->> 'upload_expires_at')`,
  }),
  collection: () => ({ seq: orderFromContent('collections', 'organization_id', 'seq') }),
  playlist: () => ({
    seq: orderFromContent('playlists', 'organization_id', 'seq'),
    // The count starts at zero, because the restored tracks are counted when their rows are inserted again.
    track_count: sql`0`,
    version: sql`content ->> 'version' + 1`,
  }),
}

/**
 * Returns the batch that restores items of one kind, which were in the trash of the caller's organization: their rows, their playlist positions, and their interrupted transcodes. Tracks whose collection does not
 * exist stay in the trash. `insert` returns the ids of the restored resources, and `startedJobs` returns the jobs.
 */
export function restoration(context: Context, scope: PlayScope, ids: readonly string[]) {
  const { db, now, principal } = context
  const { organization_id } = principal
  const table = TABLE_OF[scope]
  const list = inList(ids)
  const isItem = sql`trash.id in ${list} and +trash.organization_id = ${organization_id} and trash.scope = ${scope}`
  const source =
    scope === 'track'
      ? sql`trash where ${isItem} and exists (select 1 from collections where collections.id = trash.collection_id)`
      : sql`trash where ${isItem}`
  const hiddenEntries = {
    track: [sql`track_id in ${list}`],
    collection: [sql`track_id in (select id from tracks where collection_id in ${list})`],
    playlist: ids.flatMap(hiddenEntriesOf),
  }
  const isRestored = sql`${scope === 'track' ? sql`id` : sql`collection_id`} in (select id from trash where ${isItem})`
  const unused = pathsWithout(filePaths(files, inContent), filePaths(keptFiles, inContent))
  const transcodes = scope === 'playlist' ? null : insertRestoredTranscodes(context, organization_id, isRestored)
  const otherStatements: BatchItem<'sqlite'>[] = [
    ...(scope === 'track' ? [purgeLaterFrom(context, organization_id, unused, source)] : []),
    ...hiddenEntries[scope].flatMap((condition) => [...restoreEntries(context, condition, scope !== 'playlist')]),
    recordEvents(context, `${scope}.created`, sql`${table} where id in (select id from trash where ${isItem})`, {
      is_restored: true,
    }),
    ...(transcodes ?? []),
    // This is the last statement, because the others find the restored rows by their items.
    db.delete(trash).where(sql`${isItem} and exists (select 1 from ${table} as restored where restored.id = trash.id)`),
  ]
  const values = { ...columnsFromContent(table), ...CHANGED_COLUMNS[scope](now) }
  const insert = insertFrom(db, table, values as never, source).returning({ id: table.id })
  return { statements: [insert, ...otherStatements], insert, startedJobs: transcodes?.[1] }
}

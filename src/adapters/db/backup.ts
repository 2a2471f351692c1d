import type { Row } from '../../contract/backup.ts'
import { OF_ORGANIZATION, SECRETS } from './organization_tables.ts'

/**
 * How a backup reads the tables, and a restore writes them (docs/decisions/0080, 0081). Every table of the schema is either in `WALKS` or in
 * `NOT_COPIED`, and every table of `WALKS` in `OF_ORGANIZATION` or in `NOT_EXPORTED`; a test compares them with the schema.
 */

interface Walk {
  /** The columns of an index that orders the rows; together they are unique and, except for positions, never change. */
  key: string[]
  /** The tables that are read in the same transaction, with a condition for their rows. */
  tables: Record<string, string>
}

const table = (name: string, ...key: string[]): Walk => ({ key, tables: { [name]: 'true' } })
/** A resource moves between its table and the trash, so both are read in the same transaction: it is always in exactly one of them. */
const withTrash = (name: string, scope: string): Walk => ({
  key: ['id'],
  tables: { [name]: 'true', trash: `scope = '${scope}'` },
})

/**
 * The walks in the order in which they run, which is the order in which a restore inserts the tables. Rows that refer to others come before them, so
 * what they refer to is read later and still exists, unless it was deleted. While tracks are inserted there are no organizations, and while events
 * are inserted there are no endpoints: no trigger counts usage or the trash, or creates deliveries.
 */
export const WALKS: Record<string, Walk> = {
  jobs: table('jobs', 'id'),
  idempotency_keys: table('idempotency_keys', 'id'),
  reprocesses: table('reprocesses', 'collection_id'),
  usage_cursors: table('usage_cursors', 'name'),
  usage_days: table('usage_days', 'organization_id', 'date'),
  play_sessions: table('play_sessions', 'id'),
  shares: table('shares', 'id'),
  retired_slugs: table('retired_slugs', 'slug'),
  upload_sessions: table('upload_sessions', 'id'),
  upload_handles: table('upload_handles', 'track_id', 'path'),
  playlist_tracks: table('playlist_tracks', 'playlist_id', 'position', 'id'),
  reservations: table('reservations', 'organization_id', 'track_id'),
  tracks: withTrash('tracks', 'track'),
  playlists: withTrash('playlists', 'playlist'),
  collections: withTrash('collections', 'collection'),
  variants: table('variants', 'id'),
  webhook_deliveries: table('webhook_deliveries', 'endpoint_id', 'seq'),
  events: table('events', 'organization_id', 'seq'),
  webhook_endpoints: table('webhook_endpoints', 'id'),
  api_keys: table('api_keys', 'id'),
  organizations: table('organizations', 'id'),
}

/** The tables that are not copied, with the reason. */
export const NOT_COPIED: Record<string, string> = {
  list_counts: 'triggers count the restored rows',
  search: 'triggers fill it from the restored rows',
  search_titles: 'triggers fill it from the restored rows',
  search_fills: 'belongs to the search table of this database',
  heartbeats: 'describes this deployment',
  listening_folds: 'describes the objects of this deployment',
  multipart_uploads: 'refers to parts in this bucket',
  source_urls: 'secrets, which a backup does not need',
  d1_migrations: 'describes the schema',
}

/** The tables in the order in which a restore inserts them. */
export const TABLES = [...new Set(Object.values(WALKS).flatMap(({ tables }) => Object.keys(tables)))]

const quote = (name: string) => `"${name}"`
/** SQL for a column of a row of JSON. */
export const field = (name: string) => `value ->> '$.${quote(name)}'`
const isHeld = `${field('state')} = 'open' and ${field('holder')} is not null`
const wasActive = `${field('state')} = 'active'`

/**
 * The columns that a restore changes, in SQL. No worker holds a restored job, and the parts of its outputs are in another bucket. Endpoints are
 * paused. Tracks that wait for an upload are checked at once; the URLs from which files were being fetched are not copied, so those tracks wait no longer.
 */
export const RESTORED: Record<string, Record<string, string>> = {
  jobs: {
    holder: `iif(${field('state')} = 'open', null, ${field('holder')})`,
    slot: 'null',
    lease_until: `iif(${isHeld}, 0, ${field('lease_until')})`,
    wake_at: `iif(${isHeld} and ${field('rank')} is null, 0, ${field('wake_at')})`,
    payload: `json_remove(${field('payload')}, '$.uploads')`,
  },
  tracks: {
    next_check_at: `iif(${field('awaiting_upload')}, 0, ${field('next_check_at')})`,
    upload_expires_at: `iif(${field('status')} = 'initializing' and ${field('progress')} is not null, 0, ${field('upload_expires_at')})`,
  },
  webhook_endpoints: {
    state: `iif(${wasActive}, 'paused', ${field('state')})`,
    reason: `iif(${wasActive}, 'restored', ${field('reason')})`,
  },
}

/** A stored column. */
export interface Column {
  name: string
  type: string
  /** 0 for a stored column. */
  hidden: number
  /** Its place in the primary key; 0 if it is not part of it. */
  pk: number
}

/** Reads the stored columns of tables. The names of the tables must come from `TABLES`. */
export async function columnsOf(d1: D1Database, tables: string[]): Promise<Column[][]> {
  const statements = tables.map((name) => d1.prepare(`pragma table_xinfo(${quote(name)})`))
  const results = await d1.batch<Column>(statements)
  return results.map(({ results: columns }) => columns.filter(({ hidden }) => hidden === 0))
}

const isBytes = ({ type }: Column) => type.toLowerCase() === 'blob'

type Key = (string | number)[]

/**
 * Reads the rows of a walk after a key, at most `limit` of each table, or those with the given ids; for an export, only those of an organization. All
 * tables are read in one transaction and up to the same key. `after` is null at the end.
 */
export async function readRows(
  d1: D1Database,
  { key, tables }: Walk,
  after: Key | null,
  limit: number,
  { ids, organization_id }: { ids?: string[] | undefined; organization_id?: string | undefined } = {},
): Promise<{ rows: Record<string, Row[]>; after: Key | null }> {
  const names = Object.keys(tables)
  const columns = await columnsOf(d1, names)
  const keyList = key.map(quote).join(', ')
  const own = organization_id === undefined ? [] : [organization_id]
  const place = (at: number) => `?${own.length + at + 1}`
  const position = after ? `(${keyList}) > (${key.map((_, at) => place(at)).join(', ')})` : 'true'
  const condition = ids ? `id in (select value from json_each(${place(0)}))` : position
  const values = [...own, ...(ids ? [JSON.stringify(ids)] : (after ?? []))]
  const statements = names.map((name, at) => {
    const isLeftOut = (column: string) => organization_id !== undefined && SECRETS[name]?.includes(column)
    const selected = columns[at]!.filter((column) => !isLeftOut(column.name)).map((column) =>
      isBytes(column)
        ? `iif(${quote(column.name)} is null, null, hex(${quote(column.name)})) as ${quote(column.name)}`
        : quote(column.name),
    )
    const owned = organization_id === undefined ? 'true' : OF_ORGANIZATION[name]
    return d1
      .prepare(
        `select ${selected.join(', ')} from ${name} where ${tables[name]} and ${owned} and ${condition} order by ${keyList} limit ${limit}`,
      )
      .bind(...values)
  })
  const pages = (await d1.batch<Row>(statements)).map(({ results }) => results)
  const keyOf = (row: Row) => key.map((name) => row[name]) as Key
  // A table with a full page may have more rows after its last one, so the walk continues from there in every table. Only walks of one column read several tables.
  const ends = pages.filter((page) => page.length === limit).map((page) => keyOf(page.at(-1)!))
  const end = ends.toSorted(([a], [b]) => (a! < b! ? -1 : 1))[0]
  const isRead = (row: Row) => !end || names.length === 1 || row[key[0]!]! <= end[0]!
  return {
    rows: Object.fromEntries(names.map((name, at) => [name, pages[at]!.filter(isRead)])),
    after: ids ? null : (end ?? null),
  }
}

/** The values of a table's columns for a row of JSON, in SQL. */
export const valuesOf = (columns: Column[], changed: Record<string, string> = {}) =>
  columns.map(
    (column) => changed[column.name] ?? (isBytes(column) ? `unhex(${field(column.name)})` : field(column.name)),
  )

/** The statement that inserts rows of JSON (`?1`). Rows that exist are left as they are. */
export const insertSql = (name: string, columns: Column[], changed?: Record<string, string>) =>
  `insert or ignore into ${name} (${columns.map((column) => quote(column.name)).join(', ')})
    select ${valuesOf(columns, changed).join(', ')} from json_each(?1)`

/** Inserts rows of a backup. Rows that exist are left as they are, so a page can be sent again. */
export async function insertRows(d1: D1Database, name: string, rows: Row[]): Promise<void> {
  const [columns = []] = await columnsOf(d1, [name])
  await d1
    .prepare(insertSql(name, columns, RESTORED[name]))
    .bind(JSON.stringify(rows))
    .run()
}

/** Returns the condition for the rows of a table that belong to an organization; without one, for all rows. */
const conditionOf = (name: string, organization_id: string | undefined) =>
  organization_id === undefined ? 'true' : OF_ORGANIZATION[name]!

const tablesOf = (organization_id: string | undefined) =>
  organization_id === undefined ? TABLES : Object.keys(OF_ORGANIZATION)

async function queryTables<T>(
  d1: D1Database,
  organization_id: string | undefined,
  select: (from: string) => string,
): Promise<[name: string, rows: T[]][]> {
  const names = tablesOf(organization_id)
  const statements = names.map((name) =>
    d1
      .prepare(select(`${name} where ${conditionOf(name, organization_id)}`))
      .bind(...(organization_id === undefined ? [] : [organization_id])),
  )
  const results = await d1.batch<T>(statements)
  return names.map((name, at) => [name, results[at]!.results])
}

/** Returns the number of rows in each table; with an organization, of its rows. */
export async function countRows(d1: D1Database, organization_id?: string): Promise<Record<string, number>> {
  const counts = await queryTables<{ count: number }>(
    d1,
    organization_id,
    (from) => `select count(*) as count from ${from}`,
  )
  return Object.fromEntries(counts.map(([name, [row]]) => [name, row!.count]))
}

/** Returns the tables that have a row; with an organization, one of its rows. */
export async function occupiedTables(d1: D1Database, organization_id?: string): Promise<string[]> {
  const found = await queryTables(d1, organization_id, (from) => `select 1 from ${from} limit 1`)
  return found.flatMap(([name, rows]) => (rows.length > 0 ? [name] : []))
}

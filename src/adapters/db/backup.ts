import type { Row } from '../../contract/backup.ts'

/**
 * How a backup reads the tables, and a restore writes them (docs/decisions/0080, 0081). Every table of the schema is either in `WALKS` or in
 * `NOT_COPIED`; a test compares both with the schema.
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
const field = (name: string) => `value ->> '$.${quote(name)}'`
const isHeld = `${field('state')} = 'open' and ${field('holder')} is not null`
const wasActive = `${field('state')} = 'active'`

/**
 * The columns that a restore changes, in SQL. No worker holds a restored job, and the parts of its outputs are in another bucket. Endpoints are
 * paused. Tracks that wait for an upload are checked at once; the URLs from which files were being fetched are not copied, so those tracks wait no longer.
 */
const RESTORED: Record<string, Record<string, string>> = {
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

interface Column {
  name: string
  type: string
  /** 0 for a stored column. */
  hidden: number
}

/** Reads the stored columns of tables. The names of the tables must come from `TABLES`. */
async function columnsOf(d1: D1Database, tables: string[]): Promise<Column[][]> {
  const statements = tables.map((name) => d1.prepare(`pragma table_xinfo(${quote(name)})`))
  const results = await d1.batch<Column>(statements)
  return results.map(({ results: columns }) => columns.filter(({ hidden }) => hidden === 0))
}

const isBytes = ({ type }: Column) => type.toLowerCase() === 'blob'

type Key = (string | number)[]

/**
 * Reads the rows of a walk after a key, at most `limit` of each table, or those with the given ids. All tables are read in one transaction and up to
 * the same key. `after` is null at the end.
 */
export async function readRows(
  d1: D1Database,
  { key, tables }: Walk,
  after: Key | null,
  limit: number,
  ids?: string[],
): Promise<{ rows: Record<string, Row[]>; after: Key | null }> {
  const names = Object.keys(tables)
  const columns = await columnsOf(d1, names)
  const keyList = key.map(quote).join(', ')
  const position = after ? `(${keyList}) > (${key.map(() => '?').join(', ')})` : 'true'
  const condition = ids ? 'id in (select value from json_each(?))' : position
  const values = ids ? [JSON.stringify(ids)] : (after ?? [])
  const statements = names.map((name, at) => {
    const selected = columns[at]!.map((column) =>
      isBytes(column)
        ? `iif(${quote(column.name)} is null, null, hex(${quote(column.name)})) as ${quote(column.name)}`
        : quote(column.name),
    )
    return d1
      .prepare(
        `select ${selected.join(', ')} from ${name} where ${tables[name]} and ${condition} order by ${keyList} limit ${limit}`,
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

/** Inserts rows of a backup. Rows that exist are left as they are, so a page can be sent again. */
export async function insertRows(d1: D1Database, name: string, rows: Row[]): Promise<void> {
  const [columns = []] = await columnsOf(d1, [name])
  const values = columns.map(
    (column) =>
      RESTORED[name]?.[column.name] ?? (isBytes(column) ? `unhex(${field(column.name)})` : field(column.name)),
  )
  const list = columns.map((column) => quote(column.name)).join(', ')
  await d1
    .prepare(`insert or ignore into ${name} (${list}) select ${values.join(', ')} from json_each(?)`)
    .bind(JSON.stringify(rows))
    .run()
}

/** Returns the number of rows in each table. */
export async function countRows(d1: D1Database): Promise<Record<string, number>> {
  const results = await d1.batch<{ count: number }>(
    TABLES.map((name) => d1.prepare(`select count(*) as count from ${name}`)),
  )
  return Object.fromEntries(TABLES.map((name, at) => [name, results[at]!.results[0]!.count]))
}

/** Returns the tables that have a row. */
export async function occupiedTables(d1: D1Database): Promise<string[]> {
  const results = await d1.batch(TABLES.map((name) => d1.prepare(`select 1 from ${name} limit 1`)))
  return TABLES.filter((_, at) => results[at]!.results.length > 0)
}

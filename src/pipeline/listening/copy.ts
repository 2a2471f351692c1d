/** The rows of an object, for a backup and a restore (docs/decisions/0080, 0081). */

/** A row of a table as JSON. */
export interface CopiedRow {
  name: string
  row: string
}

/** Maximum characters and rows of a page. */
const PAGE = 1_000_000
const ROWS = 200
const TABLES = `select name from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\' and name <> 'self' order by name`

const namesOf = (sql: SqlStorage) =>
  sql
    .exec<{ name: string }>(TABLES)
    .toArray()
    .map(({ name }) => name)

/** Returns the columns of the primary key of a table. */
const keyOf = (sql: SqlStorage, table: string) =>
  sql
    .exec<{ name: string }>('select name from pragma_table_info(?) where pk > 0 order by pk', table)
    .toArray()
    .map(({ name }) => name)

/**
 * Reads the rows after a place, which is null at the start; returns where to continue, or null at the end. A place is the index of a table and the
 * primary key of the last row, because rows can be deleted between two pages.
 */
export function copyRows(sql: SqlStorage, after: string | null): { rows: CopiedRow[]; after: string | null } {
  const names = namesOf(sql)
  let [table, ...last] = JSON.parse(after ?? '[0]') as [number, ...SqlStorageValue[]]
  const name = names[table]
  if (name === undefined) return { rows: [], after: null }
  const key = keyOf(sql, name)
  const list = key.join(', ')
  const where = last.length > 0 ? `where (${list}) > (${key.map(() => '?').join(', ')})` : ''
  const rows: CopiedRow[] = []
  let length = 0
  for (const row of sql.exec(`select * from ${name} ${where} order by ${list} limit ?`, ...last, ROWS)) {
    const text = JSON.stringify(row)
    if (rows.length > 0 && length + text.length > PAGE) return { rows, after: JSON.stringify([table, ...last]) }
    rows.push({ name, row: text })
    length += text.length
    last = key.map((column) => row[column]!)
  }
  return { rows, after: JSON.stringify(rows.length === ROWS ? [table, ...last] : [table + 1]) }
}

/** Inserts copied rows. A repeated insert changes nothing. */
export function insertRows(sql: SqlStorage, rows: readonly CopiedRow[]): void {
  const names = namesOf(sql)
  for (const { name, row } of rows) {
    if (!names.includes(name)) throw new Error(`The object has no table ${name}`)
    const columns = Object.entries(JSON.parse(row) as Record<string, SqlStorageValue>)
    const list = columns.map(([column]) => `"${column}"`).join(', ')
    const values = columns.map(([, value]) => value)
    sql.exec(`insert or replace into ${name} (${list}) values (${values.map(() => '?').join(', ')})`, ...values)
  }
}

/** The rows of an object, for a backup and a restore (docs/decisions/0080, 0081). */

/** A row of a table as JSON. */
export interface CopiedRow {
  name: string
  row: string
}

/** Maximum characters of a page, and of its rows. */
const PAGE = 1_000_000
const ROWS = 200
const TABLES = `select name from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\' and name <> 'self' order by name`

const namesOf = (sql: SqlStorage) =>
  sql
    .exec<{ name: string }>(TABLES)
    .toArray()
    .map(({ name }) => name)

/** Reads the rows after a place, which is null at the start; returns where to continue, or null at the end. */
export function copyRows(sql: SqlStorage, after: string | null): { rows: CopiedRow[]; after: string | null } {
  const names = namesOf(sql)
  const [table, offset] = (after ?? '0:0').split(':').map(Number) as [number, number]
  const name = names[table]
  if (name === undefined) return { rows: [], after: null }
  const rows: CopiedRow[] = []
  let length = 0
  for (const row of sql.exec(`select * from ${name} limit ? offset ?`, ROWS, offset)) {
    const text = JSON.stringify(row)
    if (rows.length > 0 && length + text.length > PAGE) return { rows, after: `${table}:${offset + rows.length}` }
    rows.push({ name, row: text })
    length += text.length
  }
  return { rows, after: rows.length === ROWS ? `${table}:${offset + ROWS}` : `${table + 1}:0` }
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

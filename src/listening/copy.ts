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

/** The index of a table and the primary key of the last row, because rows can be deleted between two pages. */
type Place = [table: number, ...key: (string | number)[]]

function parsePlace(text: string): Place | null {
  try {
    const place = JSON.parse(text) as Place
    const isPlace = Number.isInteger(place[0]) && place.every((part) => /number|string/.test(typeof part))
    return isPlace ? place : null
  } catch {
    return null
  }
}

/** Reads the rows after a place, which is null at the start; returns where to continue, or null at the end. Returns null for a malformed place. */
export function copyRows(sql: SqlStorage, after: string | null): { rows: CopiedRow[]; after: string | null } | null {
  const place = parsePlace(after ?? '[0]')
  if (!place) return null
  let [table, ...last]: [number, ...SqlStorageValue[]] = place
  const name = namesOf(sql)[table]
  if (name === undefined) return { rows: [], after: null }
  const key = keyOf(sql, name)
  if (last.length > 0 && last.length !== key.length) return null
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

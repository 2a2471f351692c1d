import { getTableColumns, is, SQL, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/d1'
import type { SQLiteInsertValue, SQLiteTable } from 'drizzle-orm/sqlite-core'

/** D1 through Drizzle. Query builders are per request; there is no connection to keep. */
export const openDatabase = (d1: D1Database) => drizzle(d1)
export type Database = ReturnType<typeof openDatabase>

/**
 * Inserts a row for each that a source gives (`collections where id = …`), so none where it gives none: a guard that needs no error.
 * Every column is named by the table's definition and filled by its name, whatever their order.
 */
export function insertFrom<T extends SQLiteTable>(db: Database, table: T, values: SQLiteInsertValue<T>, source: SQL) {
  const columns = Object.entries(getTableColumns(table))
  const fields = columns.map(([name, column]) => {
    const { [name]: value = column.default ?? null } = values as Record<string, unknown>
    return [name, (is(value, SQL) ? value : sql`${sql.param(value, column)}`).as(column.name)]
  })
  const select = db.select(Object.fromEntries(fields) as Record<string, SQL.Aliased>).from(source)
  // Drizzle compares the names with the table's, and throws when they differ.
  return db.insert(table).select(select as never)
}

/** The same, of the copy that is nearest: it may be a moment behind. Drizzle needs no more of a database than a session has. */
export const openNearest = (d1: D1Database) =>
  openDatabase(d1.withSession('first-unconstrained') as unknown as D1Database)

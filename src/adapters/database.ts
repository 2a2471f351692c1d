import { fillPlaceholders, getTableColumns, is, SQL, sql } from 'drizzle-orm'
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

/** A statement that is written once in an isolate, as Drizzle takes longer for it than all the rest of a request; bound to values each time. */
export function written(build: (db: Database) => { toSQL(): { sql: string; params: unknown[] } }) {
  let text: { sql: string; params: unknown[] } | undefined
  return (db: Database, values: Record<string, unknown>): D1PreparedStatement => {
    text ??= build(db).toSQL()
    return db.$client.prepare(text.sql).bind(...fillPlaceholders(text.params, values))
  }
}

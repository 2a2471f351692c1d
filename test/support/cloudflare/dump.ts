import type { DatabaseSync } from 'node:sqlite'

import { ApiError } from './account.ts'

/** Returns the SQL of D1's export: tables with their rows, then indexes and triggers. Throws if the database has a virtual table, as D1 does. */
export function dump(sql: DatabaseSync): string {
  const objects = sql
    .prepare(
      "select type, name, sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by rowid",
    )
    .all() as { type: string; name: string; sql: string }[]
  if (objects.some((object) => /^create virtual table/i.test(object.sql)))
    throw new ApiError(400, 7500, 'D1 Export error: cannot export databases with Virtual Tables (fts5): SQLITE_ERROR')
  const tables = objects.filter(({ type }) => type === 'table')
  const others = objects.filter(({ type }) => type !== 'table')
  return [
    'PRAGMA defer_foreign_keys=TRUE',
    ...tables.flatMap((table) => [table.sql, ...rowsOf(sql, table.name)]),
    'DELETE FROM sqlite_sequence',
    ...rowsOf(sql, 'sqlite_sequence'),
    ...others.map((object) => object.sql),
  ]
    .map((statement) => `${statement};\n`)
    .join('')
}

function rowsOf(sql: DatabaseSync, table: string): string[] {
  const columns = sql.prepare(`select name from pragma_table_info('${table}')`).all() as { name: string }[]
  const quoted = columns.map(({ name }) => `quote("${name}")`).join(` || ',' || `)
  const rows = sql.prepare(`select ${quoted} as row from "${table}"`).all() as { row: string }[]
  const names = columns.map(({ name }) => `"${name}"`).join(',')
  return rows.map(({ row }) => `INSERT INTO "${table}" (${names}) VALUES(${row})`)
}

import { Column, fillPlaceholders, is, type SQL } from 'drizzle-orm'
import { QueryBuilder, type SQLiteColumn } from 'drizzle-orm/sqlite-core'

import type { Database } from './database.ts'

type Part = Record<string, SQLiteColumn | SQL.Aliased>
type Data<T> = T extends Column
  ? T['_']['notNull'] extends true
    ? T['_']['data']
    : T['_']['data'] | null
  : T extends SQL.Aliased<infer D>
    ? D
    : never
type Row<T extends Record<string, Part>> = { [K in keyof T]: { [C in keyof T[K]]: Data<T[K][C]> } | null }

const newSelect = <T extends Record<string, Part>>(fields: T) => new QueryBuilder().select(fields)

/**
 * A select of one row, in parts, that is built once in an isolate: that takes Drizzle longer than all the rest of a play view. A part whose
 * first column is null is null, as of a left join that finds nothing.
 */
export function statement<const T extends Record<string, Part>>(
  fields: T,
  build: (select: ReturnType<typeof newSelect<T>>) => { toSQL(): { sql: string; params: unknown[] } },
) {
  const parts = Object.entries(fields).map(([name, part]) => ({ name, columns: Object.entries(part) }))
  let built: { sql: string; params: unknown[] } | undefined

  function decode(row: unknown[]): Row<T> {
    const decoded: Record<string, Record<string, unknown> | null> = {}
    let at = 0
    for (const { name, columns } of parts) {
      const part: Record<string, unknown> = {}
      decoded[name] = row[at] === null ? null : part
      for (const [key, column] of columns) {
        const value = row[at++]
        part[key] = value === null || !is(column, Column) ? value : column.mapFromDriverValue(value)
      }
    }
    return decoded as Row<T>
  }

  return async (db: Database, values: Record<string, string>): Promise<Row<T> | undefined> => {
    built ??= build(newSelect(fields)).toSQL()
    const bound = db.$client.prepare(built.sql).bind(...fillPlaceholders(built.params, values))
    const [row] = await bound.raw()
    return row && decode(row)
  }
}

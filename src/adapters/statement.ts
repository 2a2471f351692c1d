import { Column, fillPlaceholders, is, SQL, sql } from 'drizzle-orm'
import { QueryBuilder, type SQLiteColumn } from 'drizzle-orm/sqlite-core'

import type { Database } from './database.ts'

type Values = Record<string, unknown>
type Part = Record<string, SQLiteColumn | SQL.Aliased>
type Data<T> = T extends Column
  ? T['_']['notNull'] extends true
    ? T['_']['data']
    : T['_']['data'] | null
  : T extends SQL.Aliased<infer D>
    ? D
    : never
type Row<T extends Record<string, Part>> = { [K in keyof T]: { [C in keyof T[K]]: Data<T[K][C]> } | null }

/** A statement that is written once in an isolate, as Drizzle takes longer for it than all the rest of a request; bound to values each time. */
export function written(build: (db: Database) => { toSQL(): { sql: string; params: unknown[] } }) {
  let text: { sql: string; params: unknown[] } | undefined
  return (db: Database, values: Values): D1PreparedStatement => {
    text ??= build(db).toSQL()
    return db.$client.prepare(text.sql).bind(...fillPlaceholders(text.params, values))
  }
}

const newSelect = (fields: Record<string, Record<string, SQL.Aliased>>) => new QueryBuilder().select(fields)

/**
 * A select in parts, written once. A part whose first column is null is null, as of a left join that finds nothing. Every column gets
 * a name of its own: D1's batch answers objects keyed by it, in which equal names would be lost.
 */
export function statement<const T extends Record<string, Part>>(
  fields: T,
  build: (select: ReturnType<typeof newSelect>) => { toSQL(): { sql: string; params: unknown[] } },
) {
  const parts = Object.entries(fields).map(([name, part]) => ({ name, columns: Object.entries(part) }))
  const named = parts.map(({ name, columns }) => {
    const aliased = columns.map(([key, column]) => {
      const value = is(column, SQL.Aliased) ? column.sql : sql`${column}`
      return [key, value.as(`${name}_${key}`)] as const
    })
    return [name, Object.fromEntries(aliased)] as const
  })

  function decode(row: unknown[]): Row<T> {
    const decoded: Record<string, Values | null> = {}
    let at = 0
    for (const { name, columns } of parts) {
      const part: Values = {}
      decoded[name] = row[at] === null ? null : part
      for (const [key, column] of columns) {
        const value = row[at++]
        part[key] = value === null || !is(column, Column) ? value : column.mapFromDriverValue(value)
      }
    }
    return decoded as Row<T>
  }

  const bind = written(() => build(newSelect(Object.fromEntries(named))))
  return {
    bind,
    /** Rows of a batch. */
    decode: (rows: Values[]): Row<T>[] => rows.map((row) => decode(Object.values(row))),
    /** On its own; the first row. */
    async get(db: Database, values: Values): Promise<Row<T> | undefined> {
      const [row] = await bind(db, values).raw()
      return row && decode(row)
    },
  }
}

/** Runs bound statements in one trip, as one transaction; answers the rows of each. */
export const batch = async (db: Database, bound: D1PreparedStatement[]) =>
  (await db.$client.batch<Values>(bound)).map(({ results }) => results)

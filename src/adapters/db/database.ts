import { fillPlaceholders, getTableColumns, is, SQL, sql } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'
import { drizzle } from 'drizzle-orm/d1'
import type { SQLiteInsertValue, SQLiteTable } from 'drizzle-orm/sqlite-core'

/** D1 through Drizzle. Each request creates its own query builders; there is no connection to keep open. */
export const openDatabase = (d1: D1Database) => drizzle(d1)
export type Database = ReturnType<typeof openDatabase>

/** For background work, where every statement is idempotent: transient errors are retried. */
export const openWithRetries = (d1: D1Database) => openDatabase(withRetries(d1))

/** D1's messages for transient errors (D1, Debug D1 and Retry queries): network, restart, overload. */
const TRANSIENT =
  /network connection lost|object to be reset|its code was updated|limit and was reset|transient issue|is overloaded|queued for too long|too many requests queued/i

/** Whether an error is a transient one of D1, or Drizzle's error with such a cause. */
export const isTransientError = (error: unknown): boolean =>
  error instanceof Error && (TRANSIENT.test(error.message) || isTransientError(error.cause))

const MAX_ATTEMPTS = 5
/** Initial backoff in milliseconds; doubles per retry, with jitter. */
const INITIAL_BACKOFF = 100

/** Retries after transient errors. A failed attempt may still have taken effect, so use it only for idempotent statements. */
export async function retrying<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isTransientError(error)) throw error
      await scheduler.wait(INITIAL_BACKOFF * 2 ** (attempt - 1) * (0.5 + Math.random()))
    }
  }
}

const QUERY_METHODS = ['run', 'all', 'raw', 'first']

/** The binding, with retries for every statement and batch. */
function withRetries(d1: D1Database): D1Database {
  const statement = (real: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(real, {
      get(_, name: keyof D1PreparedStatement) {
        if (name === 'bind') return (...values: unknown[]) => statement(real.bind(...values))
        const value = Reflect.get(real, name) as unknown
        if (typeof value !== 'function') return value
        return QUERY_METHODS.includes(name)
          ? (...values: unknown[]) => retrying(() => Reflect.apply(value, real, values) as Promise<unknown>)
          : value.bind(real)
      },
    })
  return new Proxy(d1, {
    get(_, name: keyof D1Database) {
      if (name === 'prepare') return (query: string) => statement(d1.prepare(query))
      if (name === 'batch') return (statements: D1PreparedStatement[]) => retrying(() => d1.batch(statements))
      return d1[name].bind(d1)
    },
  })
}

type Statement = BatchItem<'sqlite'>

/**
 * Runs statements as one transaction. Resolves to a function that returns the result of one of the statements, so that its position does not
 * matter.
 */
export async function runBatch(db: Database, statements: readonly Statement[]) {
  const results: unknown[] = await db.batch(statements as [Statement])
  return <S extends Statement>(statement: S): S['_']['result'] => {
    const index = statements.indexOf(statement)
    if (index < 0) throw new Error('the statement is not part of this batch')
    return results[index]
  }
}

/** A list of any length for the right side of `in`, passed as JSON because a statement takes at most a hundred parameters (D1, Limits). */
export const inJsonList = (values: readonly unknown[]) => sql`(select value from json_each(${JSON.stringify(values)}))`

/**
 * Inserts one row for each row of a source (`collections where id = …`), and none if the source is empty: a guard that needs no error. The statement
 * names every column of the table, so their order does not matter.
 */
export function insertFrom<T extends SQLiteTable>(db: Database, table: T, values: SQLiteInsertValue<T>, source: SQL) {
  const allColumns = Object.entries(getTableColumns(table))
  const columns = allColumns.filter(([, column]) => !column.generated)
  const fields = columns.map(([name, column]) => {
    const { [name]: value = column.default ?? null } = values as Record<string, unknown>
    return [name, (is(value, SQL) ? value : sql`${sql.param(value, column)}`).as(column.name)]
  })
  const select = db.select(Object.fromEntries(fields) as Record<string, SQL.Aliased>).from(source)
  // Drizzle compares the names with the table's columns and throws if they differ. This check forgets that generated columns are skipped.
  return db.insert(table).select((columns.length < allColumns.length ? select.getSQL() : select) as never)
}

/** A statement whose text is built once per isolate, because Drizzle takes longer for it than the rest of a request. Values are bound per request. */
export function prepareOnce(build: (db: Database) => { toSQL(): { sql: string; params: unknown[] } }) {
  let text: { sql: string; params: unknown[] } | undefined
  return (db: Database, values: Record<string, unknown>): D1PreparedStatement => {
    text ??= build(db).toSQL()
    return db.$client.prepare(text.sql).bind(...fillPlaceholders(text.params, values))
  }
}

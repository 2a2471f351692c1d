import { fillPlaceholders, getTableColumns, is, SQL, sql } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'
import { drizzle } from 'drizzle-orm/d1'
import type { SQLiteInsertValue, SQLiteTable } from 'drizzle-orm/sqlite-core'

/** D1 through Drizzle. Each request creates its own query builders; there is no connection to keep open. */
export const openDatabase = (d1: D1Database) => drizzle(d1)
export type Database = ReturnType<typeof openDatabase>

/** Opens a database that retries statements after transient errors. It is for background work, in which every statement is idempotent. */
export const openWithRetries = (d1: D1Database) => openDatabase(withRetries(d1))

/** D1's messages for transient errors (D1, Debug D1 and Retry queries): network problems, restarts and overload. */
const TRANSIENT =
  /network connection lost|object to be reset|its code was updated|limit and was reset|transient issue|is overloaded|queued for too long|too many requests queued/i

/** Whether an error is a transient error of D1, or an error of Drizzle that was caused by one. */
export const isTransientError = (error: unknown): boolean =>
  error instanceof Error && (TRANSIENT.test(error.message) || isTransientError(error.cause))

const MAX_ATTEMPTS = 5
/** Milliseconds before the first retry. The time doubles for each retry after it, with jitter. */
const INITIAL_BACKOFF = 100

/** Runs a statement again after transient errors. A failed attempt may still have taken effect, so the statement must be idempotent. */
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

/** Returns a D1 binding that retries every statement and batch. */
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
 * Runs statements as one transaction. Resolves to a function that returns the result of a given statement, so callers do not depend on the order of
 * the statements.
 */
export async function runBatch(db: Database, statements: readonly Statement[]) {
  const results: unknown[] = await db.batch(statements as [Statement])
  return <S extends Statement>(statement: S): S['_']['result'] => {
    const index = statements.indexOf(statement)
    if (index < 0) throw new Error('the statement is not part of this batch')
    return results[index]
  }
}

/**
 * Returns SQL for the right side of `in`, for a list of any length. The list is passed as JSON, because a statement accepts at most a hundred
 * parameters (D1, Limits).
 */
export const inJsonList = (values: readonly unknown[]) => sql`(select value from json_each(${JSON.stringify(values)}))`

/**
 * Inserts one row for each row of a source (`collections where id = …`), and none if the source is empty. A source can thus be the condition of an
 * insert. The statement names every column of the table, so their order does not matter.
 */
export function insertFrom<T extends SQLiteTable>(db: Database, table: T, values: SQLiteInsertValue<T>, source: SQL) {
  const allColumns = Object.entries(getTableColumns(table))
  const columns = allColumns.filter(([, column]) => !column.generated)
  const fields = columns.map(([name, column]) => {
    const { [name]: value = column.default ?? null } = values as Record<string, unknown>
    return [name, (is(value, SQL) ? value : sql`${sql.param(value, column)}`).as(column.name)]
  })
  const select = db.select(Object.fromEntries(fields) as Record<string, SQL.Aliased>).from(source)
  // Drizzle throws if the names differ from the table's columns. Its check does not consider that generated columns are omitted, so it is bypassed
  // for tables that have some.
  return db.insert(table).select((columns.length < allColumns.length ? select.getSQL() : select) as never)
}

/**
 * Returns a function that binds values to a statement whose text is built once per isolate. Drizzle takes longer to build the text than the rest of a
 * request takes.
 */
export function prepareOnce(build: (db: Database) => { toSQL(): { sql: string; params: unknown[] } }) {
  let text: { sql: string; params: unknown[] } | undefined
  return (db: Database, values: Record<string, unknown>): D1PreparedStatement => {
    text ??= build(db).toSQL()
    return db.$client.prepare(text.sql).bind(...fillPlaceholders(text.params, values))
  }
}

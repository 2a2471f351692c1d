import { fillPlaceholders, getTableColumns, is, SQL, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/d1'
import type { SQLiteInsertValue, SQLiteTable } from 'drizzle-orm/sqlite-core'

/** D1 through Drizzle. Query builders are per request; there is no connection to keep. */
export const openDatabase = (d1: D1Database) => drizzle(d1)
export type Database = ReturnType<typeof openDatabase>

/** The same for work in the background, all of whose statements may be repeated: faults that pass are waited out. */
export const openSteady = (d1: D1Database) => openDatabase(steady(d1))

/** What D1 says of faults that pass (D1, Debug D1 and Retry queries): of the network, of a restart, of a moment's load. */
const PASSING =
  /network connection lost|object to be reset|its code was updated|limit and was reset|transient issue|is overloaded|queued for too long|too many requests queued/i

/** Whether a fault is the database's and will pass; also of Drizzle's error, which holds D1's. */
export const isPassing = (error: unknown): boolean =>
  error instanceof Error && (PASSING.test(error.message) || isPassing(error.cause))

const MOST_TRIES = 5
/** Milliseconds before the first repetition; twice as long before each further one, and never all at the same time. */
const FIRST_PAUSE = 100

/** Repeats what fails by a passing fault. It may have happened all the same: only for what does nothing the second time. */
export async function retrying<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (attempt === MOST_TRIES || !isPassing(error)) throw error
      await scheduler.wait(FIRST_PAUSE * 2 ** (attempt - 1) * (0.5 + Math.random()))
    }
  }
}

const ASKING = ['run', 'all', 'raw', 'first']

/** The binding with every statement and batch retried. */
function steady(d1: D1Database): D1Database {
  const statement = (real: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(real, {
      get(_, name: keyof D1PreparedStatement) {
        if (name === 'bind') return (...values: unknown[]) => statement(real.bind(...values))
        const value = Reflect.get(real, name) as unknown
        if (typeof value !== 'function') return value
        return ASKING.includes(name)
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

/** Any number of values, behind `in`: as JSON, because a statement takes a hundred parameters (D1, Limits). */
export const among = (values: readonly unknown[]) => sql`(select value from json_each(${JSON.stringify(values)}))`

/**
 * Inserts a row for each that a source gives (`collections where id = …`), so none where it gives none: a guard that needs no error.
 * Every column is named by the table's definition and filled by its name, whatever their order.
 */
export function insertFrom<T extends SQLiteTable>(db: Database, table: T, values: SQLiteInsertValue<T>, source: SQL) {
  const all = Object.entries(getTableColumns(table))
  const columns = all.filter(([, column]) => !column.generated)
  const fields = columns.map(([name, column]) => {
    const { [name]: value = column.default ?? null } = values as Record<string, unknown>
    return [name, (is(value, SQL) ? value : sql`${sql.param(value, column)}`).as(column.name)]
  })
  const select = db.select(Object.fromEntries(fields) as Record<string, SQL.Aliased>).from(source)
  // Drizzle compares the names with the table's, and throws when they differ; that it writes no generated ones it forgets there.
  return db.insert(table).select((columns.length < all.length ? select.getSQL() : select) as never)
}

/** A statement that is written once in an isolate, as Drizzle takes longer for it than all the rest of a request; bound to values each time. */
export function written(build: (db: Database) => { toSQL(): { sql: string; params: unknown[] } }) {
  let text: { sql: string; params: unknown[] } | undefined
  return (db: Database, values: Record<string, unknown>): D1PreparedStatement => {
    text ??= build(db).toSQL()
    return db.$client.prepare(text.sql).bind(...fillPlaceholders(text.params, values))
  }
}

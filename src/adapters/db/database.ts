import { fillPlaceholders, getTableColumns, is, SQL, sql } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'
import { drizzle } from 'drizzle-orm/d1'
import type { SQLiteInsertValue, SQLiteTable } from 'drizzle-orm/sqlite-core'

import { describeError } from '../../core/errors.ts'
import { retryInBackground, retryInRequest, retrying } from './retry.ts'

/** D1 through Drizzle. Each request creates its own query builders; there is no connection to keep open. */
export const openDatabase = (d1: D1Database) => drizzle(d1)
export type Database = ReturnType<typeof openDatabase>

/** Opens a database that retries every statement after transient errors. It is for background work, in which every statement is idempotent. */
export const openWithRetries = (d1: D1Database) => openDatabase(retryInBackground(d1))

/**
 * Opens a database for a request. After transient errors it retries what only reads, and everything if every statement of the request is idempotent.
 * Any other write that fails may have taken effect (docs/decisions/0075).
 */
export const openForRequest = (d1: D1Database, isIdempotent = false) => openDatabase(retryInRequest(d1, isIdempotent))

export type Statement = BatchItem<'sqlite'>

/**
 * Runs statements as one transaction. Resolves to a function that returns the result of a given statement, so callers do not depend on the order of
 * the statements.
 */
export async function runBatch(db: Database, statements: readonly Statement[]) {
  const results: unknown[] = statements.length > 0 ? await db.batch(statements as [Statement]) : []
  return <S extends Statement>(statement: S): S['_']['result'] => {
    const index = statements.indexOf(statement)
    if (index < 0) throw new Error('the statement is not part of this batch')
    return results[index]
  }
}

/** Returns `runBatch` for the batches of a request, the first of which also runs the statement `first`, so that this needs no additional trip; and its rows. */
export function batchesWith<S extends Statement>(db: Database, first?: S) {
  let firstRows: S['_']['result'] | undefined
  return {
    db,
    async run(statements: readonly Statement[]) {
      if (!first || firstRows !== undefined) return runBatch(db, statements)
      const resultOf = await runBatch(db, [first, ...statements])
      firstRows = resultOf(first)
      return resultOf
    },
    firstRows: () => firstRows,
  }
}
export type Batches = ReturnType<typeof batchesWith>

/** Whether a batch failed because it would have inserted a unique value a second time. */
export const isDuplicate = (error: unknown) => describeError(error).includes('UNIQUE constraint failed')

/**
 * Runs a batch that inserts a row with the id of this request (`rowId`), and returns the row. An earlier attempt may have inserted the row, although
 * its response was lost; `read` then returns it. Resolves to undefined if the condition of the insert does not hold. `firstStatements` run before the
 * insert.
 */
export async function insertOnce<R>(
  db: Database,
  insert: Statement & { _: { result: R[] } },
  otherStatements: readonly Statement[],
  read: () => Promise<R | undefined>,
  firstStatements: readonly Statement[] = [],
): Promise<R | undefined> {
  try {
    const resultOf = await retrying(() => runBatch(db, [...firstStatements, insert, ...otherStatements]))
    const [row] = resultOf(insert) as R[]
    return row ?? (await read())
  } catch (error) {
    const row = isDuplicate(error) ? await read() : undefined
    if (!row) throw error
    return row
  }
}

/**
 * Returns SQL for the right side of `in`, for a list of any length. The list is passed as JSON, because a statement accepts at most a hundred
 * parameters (D1, Limits).
 */
export const inJsonList = (values: readonly unknown[]) => sql`(select value from json_each(${JSON.stringify(values)}))`

/** Like `inJsonList`, but reads no rows for a list of one value. */
export const inList = (values: readonly unknown[]) => (values.length === 1 ? sql`(${values[0]})` : inJsonList(values))

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

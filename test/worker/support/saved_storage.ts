import { env } from 'cloudflare:workers'

import { query } from './api.ts'
import { restartMultiparts } from './multipart_uploads.ts'
import { emptyStorage } from './storage.ts'

/** Tables that the triggers of other tables fill when a row is inserted, in an order in which none of them fills an earlier one. */
const FILLED = ['events', 'webhook_deliveries', 'usage_days', 'reservations', 'list_counts']
/** Milliseconds after which a state is created again, because uploads and sessions in it expire. */
const MAX_AGE = 600_000

interface Dump {
  table: string
  /** The columns, each with the SQL that reads the column as a JSON value, and that converts the n-th value back. */
  columns: { name: string; read: string; write: (value: string) => string }[]
  rows: unknown[][]
}

const column = (name: string, type: string): Dump['columns'][number] =>
  type.toLowerCase() === 'blob'
    ? { name, read: `iif(${name} is null, null, hex(${name}))`, write: (value) => `unhex(${value})` }
    : { name, read: name, write: (value) => value }

/** Reads all rows. The index of the search is not read, because triggers fill it. */
async function dumpTables(): Promise<Dump[]> {
  const all = await query<{ table: string; column: string; type: string; wr: number }>(
    `select tables.name as "table", columns.name as "column", columns.type, wr
      from pragma_table_list as tables, pragma_table_xinfo(tables.name) as columns
      where tables.schema = 'main' and tables.type = 'table' and hidden = 0 and tables.name not glob 'sqlite_*'
        and tables.name not glob '_cf_*' and tables.name != 'd1_migrations'`,
  )
  const tables = [...Map.groupBy(all, ({ table }) => table)].map(([table, columns]) => ({
    table,
    columns: [
      ...(columns[0]!.wr ? [] : [column('rowid', '')]),
      ...columns.map(({ column: name, type }) => column(`"${name}"`, type)),
    ],
  }))
  const results = await env.DB.batch<{ row: string }>(
    tables.map(({ table, columns }) =>
      env.DB.prepare(`select json_array(${columns.map(({ read }) => read).join()}) as row from "${table}"`),
    ),
  )
  return tables
    .map((table, at) => ({ ...table, rows: results[at]!.results.map(({ row }) => JSON.parse(row) as unknown[]) }))
    .filter(({ rows }) => rows.length > 0)
    .toSorted((a, b) => FILLED.indexOf(a.table) - FILLED.indexOf(b.table))
}

/** Writes all rows into empty tables. */
async function writeTables(dumps: Dump[]): Promise<void> {
  await env.DB.batch(
    dumps.flatMap(({ table, columns, rows }) => [
      ...(FILLED.includes(table) ? [env.DB.prepare(`delete from "${table}"`)] : []),
      env.DB.prepare(
        `insert into "${table}" (${columns.map(({ name }) => name).join()})
            select ${columns.map(({ write }, at) => write(`value ->> ${at}`)).join()} from json_each(?)`,
      ).bind(JSON.stringify(rows)),
    ]),
  )
}

const readObjects = async () =>
  Promise.all(
    (await env.MEDIA.list()).objects.map(async ({ key }) => {
      const object = (await env.MEDIA.get(key))!
      return { key, bytes: await object.arrayBuffer(), options: { httpMetadata: object.httpMetadata! } }
    }),
  )

/**
 * Returns a function that calls `create` the first time, and afterwards replaces the contents of the storage by the rows and files that `create` had stored, which takes
 * a tenth of the time. All tests then use the same ids and keys. Durable Objects and the memory of the Worker are not restored. Tests that
 * delete or process these rows use `quietBindings`, because work in the background would also delete the rows that the next test restores.
 */
export function saved<T>(create: () => Promise<T>): () => Promise<T> {
  let state: { at: number; result: T; tables: Dump[]; objects: Awaited<ReturnType<typeof readObjects>> } | undefined
  return async () => {
    await emptyStorage()
    if (!state || performance.now() - state.at > MAX_AGE) {
      const at = performance.now()
      const result = await create()
      state = { at, result, tables: await dumpTables(), objects: await readObjects() }
      await emptyStorage()
    }
    const { result, tables, objects } = state
    await writeTables(tables)
    await Promise.all([
      restartMultiparts(),
      ...objects.map(({ key, bytes, options }) => env.MEDIA.put(key, bytes, options)),
    ])
    return result
  }
}

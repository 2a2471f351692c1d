import { env } from 'cloudflare:workers'

import { query } from './api.ts'

/** A replica of the database that lags behind: a second D1 database with the rows of an earlier moment. */

/** The tables that listeners read. */
const TABLES = [
  'organizations',
  'collections',
  'tracks',
  'playlists',
  'playlist_tracks',
  'play_sessions',
  'api_keys',
  'shares',
  'retired_slugs',
  'variants',
  'list_counts',
]

/** Copies the current rows of the database to the replica, which then keeps them. */
export async function updateReplica(): Promise<void> {
  const prepare = (text: string) => env.REPLICA.prepare(text)
  const schema = await query<{ name: string; sql: string }>(
    `select name, sql from sqlite_schema where type = 'table' and name in (select value from json_each(?))`,
    JSON.stringify(TABLES),
  )
  await env.REPLICA.batch(schema.flatMap(({ name, sql }) => [prepare(`drop table if exists "${name}"`), prepare(sql)]))
  for (const { name } of schema) {
    // Generated columns are not in this list.
    const columns = await query<{ name: string }>('select name from pragma_table_info(?)', name)
    const names = columns.map((column) => `"${column.name}"`).join()
    const rows = await env.DB.prepare(`select ${names} from "${name}"`).raw()
    const places = columns.map(() => '?').join()
    const insert = prepare(`insert into "${name}" (${names}) values (${places})`)
    // D1 returns a blob as an array, but accepts it only as bytes.
    const bind = (row: unknown[]) =>
      insert.bind(...row.map((value) => (Array.isArray(value) ? new Uint8Array(value as number[]) : value)))
    if (rows.length > 0) await env.REPLICA.batch(rows.map(bind))
  }
}

/**
 * Bindings with a database whose sessions read the replica. `primaryCalls` counts the statements and batches that were sent to the primary. `fault`
 * returns the error of a call to the replica, if it fails.
 */
export function laggingBindings(fault: () => Error | undefined = () => undefined) {
  let calls = 0
  const DB = new Proxy(env.DB, {
    get(primary, name: keyof D1Database) {
      if (name === 'withSession')
        return (constraint: string) => {
          const error = fault()
          if (constraint !== 'first-unconstrained') return primary.withSession(constraint)
          return error ? failing(error) : env.REPLICA.withSession(constraint)
        }
      if (name === 'prepare' || name === 'batch') calls++
      return primary[name].bind(primary)
    },
  })
  return { bindings: { ...env, DB }, primaryCalls: () => calls }
}

/** A session in which every statement fails. */
const failing = (error: Error) => {
  const fail = async () => {
    throw error
  }
  const statement = { bind: () => statement, all: fail, raw: fail, first: fail, run: fail }
  return { prepare: () => statement, batch: fail }
}

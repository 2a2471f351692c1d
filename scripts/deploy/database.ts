import { type Migration, readMigrations, replacedMigrations } from '../shared/migrations.ts'
import { type Account, ApiError, type AccountState, callApi } from './account.ts'
import { appliedMigrations, query } from './migrate.ts'
import type { Plan } from './plan.ts'
import { check, expect } from './report_check.ts'

/** The checks of the database, and its read replication. */

interface Details {
  uuid: string
  name: string
  /** Bytes. */
  file_size?: number
  jurisdiction?: string | null
  read_replication?: { mode: 'auto' | 'disabled' }
}

/** Maximum number of rows that are counted in a table. */
const MAX_COUNT = 100_000

/**
 * Checks that the database belongs to this service and is in the right jurisdiction. Prints whether read replication is on, and the
 * migrations that are pending.
 */
export async function checkDatabase(plan: Plan, account: Account, found: AccountState, rename: string): Promise<void> {
  const { id, token } = account
  const migrations = readMigrations(plan.migrations)
  let details: Details | null = null
  let applied: string[] = []
  const database = await check(`database ${plan.database}`, 'see the message', async () => {
    const list = await callApi<Details[]>(token, 'GET', `/accounts/${id}/d1/database?name=${plan.database}`)
    found.database = list.find(({ name }) => name === plan.database)?.uuid ?? null
    const bound = found.bindings?.find(({ type }) => type === 'd1')?.id
    expect(
      found.database || !bound,
      `does not exist, but the deployed Worker is bound to a database (${bound}). Correct its name, or create it and restore its rows (docs/operate.md#restore)`,
    )
    if (!found.database) return ['will be created', true]
    details = await callApi<Details>(token, 'GET', `/accounts/${id}/d1/database/${found.database}`)
    applied = await appliedMigrations(token, id, found.database)
    const names = new Set(migrations.map(({ name }) => name))
    expect(applied.length === 0 || applied.some((name) => names.has(name)), `holds tables of something else: ${rename}`)
    const replaced = replacedMigrations(applied, migrations)
    expect(replaced.length === 0, `was created by other migrations (${replaced.join(', ')}): ${rename}`)
    const { jurisdiction = null } = details
    expect(
      !plan.jurisdiction || jurisdiction === plan.jurisdiction,
      `is not in the jurisdiction ${plan.jurisdiction} of the bucket, which cannot be changed: remove the jurisdiction from the configuration, or deploy a second Tonearm (docs/operate.md#a-second-one)`,
    )
    const newer = applied.filter((name) => !names.has(name))
    const notes = [
      newer.length > 0 ? `is newer than this version (${newer.join(', ')})` : 'exists',
      ...(bound && bound !== found.database ? ['replaces the one that the deployed Worker is bound to'] : []),
    ]
    return [notes.join(', and '), true]
  })
  if (!database) return
  console.log(`ok      read replication: ${isReplicated(details) ? 'is on' : 'will be switched on'}`)
  const pending = migrations.filter(({ name }) => !applied.includes(name))
  await check('migrations', 'see the message', async () => {
    if (pending.length === 0) return ['all are applied', true]
    const text = `to be applied: ${pending.map(({ name }) => name).join(', ')}`
    if (!details || applied.length === 0) return [text, true]
    return [`${text}\n        ${await affectedTables(account, details, pending)}`, true]
  })
}

const isReplicated = (details: Details | null) => details?.read_replication?.mode === 'auto'

/**
 * Returns the existing tables that migrations name, with their numbers of rows, and the size of the database. D1 does not document a way to
 * get the size of one table. Rows are counted in the smallest index, up to a maximum, because a scan of a large table takes too long.
 */
async function affectedTables(account: Account, { uuid, file_size = 0 }: Details, pending: Migration[]) {
  const ask = <T>(sql: string) => query<T>(account.token, account.id, uuid, sql)
  const words = new Set(pending.flatMap(({ sql }) => wordsOf(sql)))
  try {
    const existing = await ask<{ name: string }>("select name from sqlite_master where type = 'table'")
    const named = existing.map(({ name }) => name).filter((name) => words.has(name))
    const counts = named.map(
      (name) => `(select count(*) from (select 1 from "${name}" limit ${MAX_COUNT + 1})) as "${name}"`,
    )
    const [rows = {}] = named.length > 0 ? await ask<Record<string, number>>(`select ${counts.join(', ')}`) : []
    const tables = Object.entries(rows).map(([name, count]) =>
      count > MAX_COUNT ? `${name} (more than ${number(MAX_COUNT)} rows)` : `${name} (${number(count)} rows)`,
    )
    return `They name ${tables.join(', ') || 'no existing table'}; the database has ${(file_size / 1e6).toFixed(1)} MB.`
  } catch (error) {
    // The rows are only information, so a busy database does not stop the deployment.
    return `Their tables cannot be counted: ${error instanceof Error ? error.message : String(error)}`
  }
}

const number = (count: number) => count.toLocaleString('en-US')

/** Returns the words of a migration, without comments and triggers: creating a trigger reads no rows of its table. */
const wordsOf = (sql: string): string[] => sql.replace(/^\s*(--|create trigger).*$/gim, '').match(/\w+/g) ?? []

/** Switches on read replication, so that public reads go to the nearest copy (docs/decisions/0028). Without it, the service works, but slower. */
export async function enableReplication({ id, token }: Account, database: string): Promise<void> {
  const path = `/accounts/${id}/d1/database/${database}`
  try {
    const before = await callApi<Details>(token, 'GET', path)
    const body = { read_replication: { mode: 'auto' } }
    const after = isReplicated(before) ? before : await callApi<Details>(token, 'PUT', path, body)
    expect(isReplicated(after), `D1 responds with ${JSON.stringify(after.read_replication)}`)
    console.log('ok      read replication of the database')
  } catch (error) {
    if (error instanceof ApiError && error.status >= 500) throw error
    console.log(`-       read replication is off: ${error instanceof Error ? error.message : String(error)}`)
  }
}

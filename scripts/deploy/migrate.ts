import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import {
  MIGRATIONS_TABLE,
  type Migration,
  readMigrations,
  migrationText,
  triggersAgain,
  triggersOf,
} from '../shared/migrations.ts'
import { type Account, ApiError, callApi, Refusal } from './account.ts'
import type { Plan } from './plan.ts'
import { runWrangler } from './wrangler.ts'

/** Migrates the database, and then checks that it has all triggers (docs/architecture.md#d1). */
export async function migrate(plan: Plan, account: Account, database: string): Promise<void> {
  const { id, token } = account
  const files = readMigrations(plan.migrations)
  const applied = await appliedMigrations(token, id, database)
  if (applied.length === 0) await query(token, id, database, MIGRATIONS_TABLE)
  for (const file of files.filter(({ name }) => !applied.includes(name))) {
    await query(token, id, database, migrationText(file)).catch(async (error: unknown) => {
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      console.log(`D1 does not take ${file.name} this way (${error.message}); it is imported.`)
      await importFile(plan, account, file.name, migrationText(file))
    })
    console.log(`applied ${file.name}`)
  }
  await restoreTriggers(plan, account, database, files)
}

async function restoreTriggers(plan: Plan, account: Account, database: string, files: Migration[]): Promise<void> {
  const missingTriggers = async () => {
    const sql = "select name from sqlite_master where type = 'trigger'"
    const existing = (await query<{ name: string }>(account.token, account.id, database, sql)).map(({ name }) => name)
    return [...triggersOf(files).keys()].filter((name) => !existing.includes(name))
  }
  const missing = await missingTriggers()
  if (missing.length > 0) {
    console.log(`\nThe database lacks the triggers ${missing.join(', ')}; they are created again.`)
    await importFile(plan, account, 'triggers.sql', triggersAgain(files, missing))
  }
  const stillMissing = missing.length > 0 ? await missingTriggers() : []
  if (stillMissing.length > 0)
    throw new Refusal(`The database lacks the triggers ${stillMissing.join(', ')} after all migrations.`)
  console.log(`the database has all ${triggersOf(files).size} triggers`)
}

/** Runs SQL with D1's import, which uses a different SQL parser than queries. The import is atomic. */
async function importFile(plan: Plan, account: Account, name: string, sql: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tonearm-import-'))
  const file = join(folder, name)
  writeFileSync(file, sql)
  const done = await runWrangler(
    account.id,
    'd1',
    'execute',
    'DB',
    '--remote',
    '--yes',
    '--config',
    plan.config,
    '--file',
    file,
  )
  rmSync(folder, { recursive: true })
  if (!done)
    throw new Refusal(
      `D1 refuses ${name}, also as an import; see the output above. The Worker was not changed. Try again later; see docs/operate.md#a-migration-that-d1-refuses.`,
    )
}

/** Runs SQL on the database, and returns the rows of its first statement. */
export async function query<T>(token: string, account: string, database: string, sql: string): Promise<T[]> {
  const path = `/accounts/${account}/d1/database/${database}/query`
  const [first] = await callApi<{ results: T[] }[]>(token, 'POST', path, { sql })
  return first?.results ?? []
}

/** Returns the names of the applied migrations. If the database belongs to another program, returns the names of its tables. */
export async function appliedMigrations(token: string, account: string, database: string): Promise<string[]> {
  const namesFrom = (sql: string) => query<{ name: string }>(token, account, database, sql)
  const tables = await namesFrom(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like '_cf_%'",
  )
  const rows = tables.some(({ name }) => name === 'd1_migrations')
    ? await namesFrom('select name from d1_migrations order by id')
    : tables
  return rows.map(({ name }) => name)
}

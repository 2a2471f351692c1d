import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

import { MIGRATIONS_TABLE } from '../../../scripts/shared/migrations.ts'

const prepare = (statements: string[]) => statements.map((statement) => env.DB.prepare(statement))

/**
 * Creates the storage with all migrations in one batch, because `applyD1Migrations` queries the database after each migration, which takes longer
 * than the tests.
 */
export async function createStorage(): Promise<void> {
  const isLeft = () => env.DB.prepare(`select 1 from sqlite_schema where name = 'api_keys'`).first()
  // On busy cores a reset may have no effect, so that the tables of the previous test file remain.
  for (let resets = 0; resets === 0 || (await isLeft()); resets++) {
    if (resets === 10) throw new Error('storage was not emptied')
    await reset()
  }
  const applied = env.TEST_MIGRATIONS.map(({ name }) => `insert into d1_migrations (name) values ('${name}')`)
  await env.DB.batch(prepare([...env.TEST_MIGRATIONS.flatMap(({ queries }) => queries), MIGRATIONS_TABLE, ...applied]))
}

/**
 * Empties the storage. This is much faster than creating it again, unless it contains a lot of data. Work that is left over from the last test ends without a
 * stack trace.
 */
export async function emptyStorage(): Promise<void> {
  // The search's own tables are skipped, because deleting from the search empties them.
  const tables = env.DB.prepare(`select name from sqlite_schema
    where type = 'table' and name not in ('d1_migrations', 'sqlite_sequence') and name not glob '_cf_*' and (name not glob 'search_*' or name = 'search_fills')`)
  const { results } = await tables.all<{ name: string }>()
  await env.DB.batch(prepare(results.map(({ name }) => `delete from "${name}"`)))
  for (;;) {
    const { objects, truncated } = await env.MEDIA.list()
    if (objects.length > 0) await env.MEDIA.delete(objects.map(({ key }) => key))
    if (!truncated) return
  }
}

import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

const prepare = (statements: string[]) => statements.map((statement) => env.DB.prepare(statement))

/** Storage as the migrations make it. All at once: `applyD1Migrations` asks the database after each, which costs more than the tests. */
export async function makeStorage(): Promise<void> {
  const isLeft = () => env.DB.prepare(`select 1 from sqlite_schema where name = 'api_keys'`).first()
  // On busy cores a reset has come to nothing, and the tables of the last file were still there.
  for (let resets = 0; resets === 0 || (await isLeft()); resets++) {
    if (resets === 10) throw new Error('storage was not emptied')
    await reset()
  }
  await env.DB.batch(prepare(env.TEST_MIGRATIONS.flatMap(({ queries }) => queries)))
}

/** Much faster than making it anew, unless there is a lot in it; and what still runs of the last test ends without a stack trace. */
export async function emptyStorage(): Promise<void> {
  // Not those that the search is made of: deleting from it empties them.
  const tables = env.DB.prepare(`select name from sqlite_schema
    where type = 'table' and name not glob '_cf_*' and (name not glob 'search_*' or name = 'search_fills')`)
  const { results } = await tables.all<{ name: string }>()
  await env.DB.batch(prepare(results.map(({ name }) => `delete from "${name}"`)))
  for (;;) {
    const { objects, truncated } = await env.MEDIA.list()
    if (objects.length > 0) await env.MEDIA.delete(objects.map(({ key }) => key))
    if (!truncated) return
  }
}

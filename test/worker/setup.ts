import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach } from 'vitest'

import { stopTranscoder } from './transcoder.ts'

// Storage is shared by the tests of a file; each starts from empty tables, an empty bucket, and without a transcoder.

let emptyTables: D1PreparedStatement[]

beforeAll(async () => {
  await reset()
  await env.DB.batch(env.TEST_MIGRATIONS.flatMap(({ queries }) => queries.map((query) => env.DB.prepare(query))))
  const tables = env.DB.prepare(`select name from sqlite_schema where type = 'table' and name not glob '_cf_*'`)
  const { results } = await tables.all<{ name: string }>()
  emptyTables = results.map(({ name }) => env.DB.prepare(`delete from "${name}"`))
})

/** Emptied, not made anew for each test, which takes longer than the tests and ends what still runs of the last one with a stack trace. */
beforeEach(async () => {
  stopTranscoder()
  await env.DB.batch(emptyTables)
  for (;;) {
    const { objects, truncated } = await env.MEDIA.list()
    if (objects.length > 0) await env.MEDIA.delete(objects.map(({ key }) => key))
    if (!truncated) return
  }
})

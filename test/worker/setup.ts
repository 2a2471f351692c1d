import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach } from 'vitest'

import { stopTranscoder } from './transcoder.ts'

// Storage is shared by the tests of a file; each starts from empty tables, buckets and queues, and without a transcoder.
beforeEach(async () => {
  stopTranscoder()
  await reset()
  // All at once: `applyD1Migrations` asks the database after each, which costs more than the tests.
  await env.DB.batch(env.TEST_MIGRATIONS.flatMap(({ queries }) => queries.map((query) => env.DB.prepare(query))))
})

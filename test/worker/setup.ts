import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach } from 'vitest'

import { stopTranscoder } from './transcoder.ts'

// Storage is shared by the tests of a file; each starts from empty tables, buckets and queues, and without a transcoder.
beforeEach(async () => {
  stopTranscoder()
  for (let attempt = 1; ; attempt++) {
    await reset()
    try {
      await migrate()
      return
    } catch (error) {
      // The simulator sends a batch again when the reset cuts its answer off; the second one finds the first one's tables.
      if (attempt === 3 || !String(error).includes('already exists')) throw error
    }
  }
})

/** All at once: `applyD1Migrations` asks the database after each, which costs more than the tests. */
const migrate = () =>
  env.DB.batch(env.TEST_MIGRATIONS.flatMap(({ queries }) => queries.map((query) => env.DB.prepare(query))))

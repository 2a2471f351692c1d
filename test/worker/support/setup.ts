import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach } from 'vitest'

import { sentWakes } from './api.ts'
import { followWith } from './fixtures.ts'
import { emptyStorage, createStorage } from './storage.ts'
import { stopTranscoder } from './transcoder.ts'

// Each test starts with empty tables, an empty bucket, and an unreachable transcoder.
beforeAll(createStorage)
beforeEach(async () => {
  stopTranscoder()
  sentWakes.length = 0
  followWith(env)
  await emptyStorage()
})

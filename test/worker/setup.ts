import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach } from 'vitest'

import { followWith } from './fixtures.ts'
import { emptyStorage, makeStorage } from './storage.ts'
import { stopTranscoder } from './transcoder.ts'

// Each test starts from empty tables, an empty bucket, and without a transcoder.
beforeAll(makeStorage)
beforeEach(async () => {
  stopTranscoder()
  followWith(env)
  await emptyStorage()
})

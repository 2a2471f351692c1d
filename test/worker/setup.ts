import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach } from 'vitest'

import { followWith } from './fixtures.ts'
import { emptyStorage, makeStorage } from './storage.ts'
import { nudges } from './support.ts'
import { stopTranscoder } from './transcoder.ts'

// Each test starts with empty tables, an empty bucket, and no transcoder.
beforeAll(makeStorage)
beforeEach(async () => {
  stopTranscoder()
  nudges.length = 0
  followWith(env)
  await emptyStorage()
})

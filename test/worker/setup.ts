import { beforeAll, beforeEach } from 'vitest'

import { emptyStorage, makeStorage } from './storage.ts'
import { stopTranscoder } from './transcoder.ts'

// Each test starts from empty tables, an empty bucket, and without a transcoder.
beforeAll(makeStorage)
beforeEach(async () => {
  stopTranscoder()
  await emptyStorage()
})

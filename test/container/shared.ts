import { afterAll } from 'vitest'

import { startService } from './service.ts'
import { startStorage } from './storage.ts'

/** Starts one storage and one service for all tests of a file. After the tests, the work directory of the service must be empty. */
export async function shareService() {
  const storage = await startStorage()
  const service = await startService()
  afterAll(async () => {
    const leftovers = await service.leftovers()
    await service.stop()
    await storage.close()
    if (leftovers.length > 0) throw new Error(`left behind: ${leftovers.join(', ')}`)
  })
  return { storage, service }
}

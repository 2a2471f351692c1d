import { afterAll } from 'vitest'

import { startService } from './service.ts'
import { startStorage } from './storage.ts'

/** A storage and a service for all tests of a file; nothing may be left in the service's directory when they are done. */
export async function shareService() {
  const storage = await startStorage()
  const service = await startService()
  afterAll(async () => {
    const left = await service.leftovers()
    await service.stop()
    await storage.close()
    if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`)
  })
  return { storage, service }
}

import { afterAll } from 'vitest'

import { type Service, showServiceLog, startService } from './service.ts'
import { startStorage } from './storage.ts'

let running: Promise<Service> | undefined

/** Starts a storage for a file, and returns it with the shared service. */
export async function shareService() {
  const [storage, service] = await Promise.all([startStorage(), sharedService()])
  afterAll(() => storage.close())
  return { storage, service }
}

/**
 * Returns a service that all files share that this process runs, because a start takes half a second of CPU time. It ends with the process. After the tests of
 * a file, its work directory must be empty.
 */
export async function sharedService(): Promise<Service> {
  const service = await (running ??= startService())
  showServiceLog(service)
  afterAll(async () => {
    const leftovers = await service.leftovers()
    if (leftovers.length > 0) throw new Error(`left behind: ${leftovers.join(', ')}`)
  })
  return service
}

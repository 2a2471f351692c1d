import { setImmediate } from 'node:timers/promises'

import type { TranscodeJob } from '../../src/contract/job.ts'
import { newJob, type Service, startService, succeed } from './service.ts'
import { startStorage } from './storage.ts'

/** Starts a service and a storage for tests that run jobs on known signals and check the output. `stop` ends both, but not a shared service. */
export async function startMeasuring(shared?: Service) {
  const storage = await startStorage()
  const service = shared ?? (await startService())
  let sources = 0

  return {
    /** Runs a job for these bytes with only the named variants; `file` and `json` return its uploads. */
    async make(source: Buffer, indexes: string[], changes: Partial<TranscodeJob> = {}) {
      // Creating a signal blocks the event loop for a long time. This turn of the loop lets Node notice connections
      // that the service has closed meanwhile.
      await setImmediate()
      const job = newJob(storage, storage.serve(`source-${sources++}`, source), changes)
      job.variants = job.variants.filter((variant) => indexes.includes(variant.index))
      const { result } = await succeed(service, job)
      const file = (index: string) => storage.files.get(`${job.job_id}/${index}`)!
      return { result, file, json: (index: string) => JSON.parse(file(index).toString()) }
    },
    async stop() {
      if (!shared) await service.stop()
      await storage.close()
    },
  }
}

import { randomUUID } from 'node:crypto'

import { CATALOG, toJobVariant } from '../../src/contract/catalog.ts'
import type { TranscodeJob } from '../../src/contract/job.ts'
import type { Storage } from './storage.ts'

/** Returns the job that the Worker would send for the source in this storage. It requests every variant of the default catalog. */
export function newJob(storage: Storage): TranscodeJob {
  const job_id = randomUUID()
  const entries = CATALOG.filter((entry) => entry.type !== 'original')
  return {
    version: 1,
    job_id,
    pass: 'strict',
    source: { url: storage.url('source'), size: storage.size },
    max_duration: 12 * 3600,
    variants: entries.map((entry) => toJobVariant(entry, storage.url(`${job_id}/${entry.index}`))),
    cover: null,
    early: null,
    tags: null,
    picture: null,
  }
}

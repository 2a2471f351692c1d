import type { System } from '../context.ts'
import type { purgeJobs } from './cleanup/purge.ts'
import { sendJob } from './jobs.ts'
import { cancelUnwanted } from './transcode/cancel_unwanted.ts'

/** Starts the purge jobs of a deletion, and cancels the transcodes of deleted tracks. */
export async function startPurge(system: System, jobs: ReturnType<typeof purgeJobs>['purge'][]): Promise<void> {
  await Promise.all(jobs.map((job) => sendJob(system, job)))
  await cancelUnwanted(system)
}

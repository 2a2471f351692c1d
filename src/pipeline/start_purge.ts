import type { System } from '../context.ts'
import { sendJob } from './jobs.ts'
import type { purgeJobs } from './purge.ts'
import { cancelUnwanted } from './transcode/unwanted.ts'

/** Starts the jobs of a deletion, and cancels the transcodes of deleted tracks. */
export async function startPurge(system: System, jobs: ReturnType<typeof purgeJobs>['purge'][]): Promise<void> {
  await Promise.all(jobs.map((job) => sendJob(system, job)))
  await cancelUnwanted(system)
}

import { deletePrefix } from '../adapters/media.ts'
import { jobs } from '../adapters/schema.ts'
import type { System } from '../context.ts'
import { holds, insertJob, type Job, sendJob } from './job.ts'
import { done, type Outcome } from './outcome.ts'

/** Deletes files in the background. */
export async function purge(system: System, organization_id: string, prefixes: string[]): Promise<void> {
  const job = insertJob(system, organization_id, { kind: 'purge', prefixes })
  await job.insert
  await sendJob(system, job)
}

/** Deletes what a purge job names; a fault is thrown and the whole job repeated. */
export async function runPurge({ db, env }: System, job: Job): Promise<Outcome> {
  if (job.payload.kind !== 'purge') throw new Error('not a purge job')
  for (const prefix of job.payload.prefixes) await deletePrefix(env, prefix)
  await db.update(jobs).set({ state: 'done' }).where(holds(job))
  return done
}

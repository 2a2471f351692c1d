import { deletePrefix } from '../adapters/media.ts'
import { type JobPayload, jobs } from '../adapters/work_schema.ts'
import type { System } from '../context.ts'
import { deleteOrganizationRows, deleteTracks } from './delete_rows.ts'
import { holds, insertJob, type Job, renewLease, sendJob } from './job.ts'
import { done, type Outcome } from './outcome.ts'

/** Seconds for which files stay that signed URLs may still lead to: those live an hour at most. */
const AFTER_URLS = 2 * 3600

/** Deletes files in the background. */
export async function purge(system: System, organization_id: string, prefixes: string[]): Promise<void> {
  const job = insertJob(system, organization_id, { kind: 'purge', prefixes })
  await job.insert
  await sendJob(system, job)
}

/** Deletes files that were replaced, when nobody can be playing them any more; the sweep starts it. */
export async function purgeLater(
  system: System,
  organization_id: string,
  prefixes: string[],
  paths: string[],
): Promise<void> {
  if (prefixes.length + paths.length === 0) return
  await insertJob(system, organization_id, { kind: 'purge', prefixes, paths }, AFTER_URLS).insert
}

/** Seconds after which nothing can write to a deleted track's places any more: upload URLs and a running job's end before. */
const AFTER_WRITES = 7 * 3600

type Purge = Extract<JobPayload, { kind: 'purge' }>

/**
 * The jobs that purge what is deleted, for the batch that deletes it: one now, and one when the last signed URL that could write
 * there has expired. Send the first with `sendJob`.
 */
export function purgeJobs(system: System, organization_id: string, payload: Omit<Purge, 'kind'>) {
  const purge = insertJob(system, organization_id, { kind: 'purge', ...payload })
  const again = insertJob(system, organization_id, { kind: 'purge', prefixes: payload.prefixes }, AFTER_WRITES)
  return { purge, inserts: [purge.insert, again.insert] as const }
}

/** Deletes what a purge job names; a fault is thrown and the whole job repeated. */
export async function runPurge(system: System, job: Job): Promise<Outcome> {
  if (job.payload.kind !== 'purge') throw new Error('not a purge job')
  const { prefixes, paths = [], organization_id, collection_id } = job.payload
  const { db, env } = system
  const alive = () => renewLease(system, job)
  if (collection_id) await deleteTracks(system, collection_id, alive)
  if (organization_id) await deleteOrganizationRows(system, organization_id, alive)
  if (paths.length > 0) await env.MEDIA.delete(paths)
  for (const prefix of prefixes) await deletePrefix(env, prefix, alive)
  await db.update(jobs).set({ state: 'done' }).where(holds(job))
  return done
}

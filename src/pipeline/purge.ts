import { deletePrefix } from '../adapters/media.ts'
import { jobs } from '../adapters/schema.ts'
import type { System } from '../context.ts'
import { deleteOrganizationRows } from './delete_rows.ts'
import { holds, insertJob, type Job, sendJob } from './job.ts'
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

/** Deletes what a purge job names; a fault is thrown and the whole job repeated. */
export async function runPurge(system: System, job: Job): Promise<Outcome> {
  if (job.payload.kind !== 'purge') throw new Error('not a purge job')
  const { prefixes, paths = [], organization_id } = job.payload
  const { db, env } = system
  if (organization_id) await deleteOrganizationRows(system, job, organization_id)
  if (paths.length > 0) await env.MEDIA.delete(paths)
  for (const prefix of prefixes) await deletePrefix(env, prefix)
  await db.update(jobs).set({ state: 'done' }).where(holds(job))
  return done
}

import { and, eq, sql } from 'drizzle-orm'

import { deletePrefix } from '../adapters/media.ts'
import { trackVariants } from '../adapters/schema.ts'
import { type JobPayload, jobs } from '../adapters/work_schema.ts'
import type { System } from '../context.ts'
import { deleteOrganizationRows, deleteTracks } from './delete_rows.ts'
import { holds, insertJob, type Job, renewLease, sendJob } from './job.ts'
import { done, type Outcome } from './outcome.ts'

type Purge = Extract<JobPayload, { kind: 'purge' }>

/** Seconds for which files stay that signed URLs may still lead to: those live an hour at most. */
const AFTER_URLS = 2 * 3600

/** The job that deletes files, and what else a purge names, at once; for a batch. Send it with `sendJob`. */
export const purgeJob = (system: System, organization_id: string, payload: Omit<Purge, 'kind'>) =>
  insertJob(system, organization_id, { kind: 'purge', ...payload })

/** Deletes files in the background. */
export async function purge(system: System, organization_id: string, prefixes: string[]): Promise<void> {
  const job = purgeJob(system, organization_id, { prefixes })
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

/**
 * The jobs that purge what is deleted, for the batch that deletes it: one now, and one when the last signed URL that could write
 * there has expired. Send the first with `sendJob`.
 */
export function purgeJobs(system: System, organization_id: string, payload: Omit<Purge, 'kind'>) {
  const purge = purgeJob(system, organization_id, payload)
  const again = insertJob(system, organization_id, { kind: 'purge', prefixes: payload.prefixes }, AFTER_WRITES)
  return { purge, inserts: [purge.insert, again.insert] as const }
}

/** Deletes what a purge job names; a fault is thrown and the whole job repeated. */
export async function runPurge(system: System, job: Job): Promise<Outcome> {
  if (job.payload.kind !== 'purge') throw new Error('not a purge job')
  const { prefixes, paths = [], organization_id, collection_id, variant } = job.payload
  const { db, env } = system
  const alive = () => renewLease(system, job)
  if (collection_id) await deleteTracks(system, collection_id, alive)
  if (organization_id) await deleteOrganizationRows(system, organization_id, alive)
  if (variant) await deleteVariantFiles(system, job, variant, alive)
  if (paths.length > 0) await env.MEDIA.delete(paths)
  for (const prefix of prefixes) await deletePrefix(env, prefix, alive)
  await db.update(jobs).set({ state: 'done' }).where(holds(job))
  return done
}

/** Files of a variant that are deleted in one batch. */
const CHUNK = 200

/**
 * Takes the files of a deleted variant away from all tracks: from then on no play view shows them. The files themselves go when the
 * last URL to them has expired; the job that deletes them is written together with the loss of their rows, so that none is forgotten.
 */
async function deleteVariantFiles(
  system: System,
  { organization_id }: Job,
  { id, index }: { id: string; index: string },
  alive: () => Promise<unknown>,
): Promise<void> {
  const { db } = system
  for (;;) {
    const files = await db
      .select({ track_id: trackVariants.track_id, path: trackVariants.path })
      .from(trackVariants)
      .where(eq(trackVariants.variant_id, id))
      .limit(CHUNK)
    if (files.length === 0) return
    const paths = files.map((file) => file.path)
    const track_ids = JSON.stringify(files.map((file) => file.track_id))
    await db.batch([
      insertJob(system, organization_id, { kind: 'purge', prefixes: [], paths }, AFTER_URLS).insert,
      db.delete(trackVariants).where(
        and(
          sql`track_id in (select value from json_each(${track_ids}))`,
          eq(trackVariants.index, index),
          // The `+` keeps SQLite from walking all files of the variant for each chunk.
          sql`+variant_id = ${id}`,
        ),
      ),
    ])
    await alive()
  }
}

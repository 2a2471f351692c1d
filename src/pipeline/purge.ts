import { and, asc, eq, gt, type SQL, sql } from 'drizzle-orm'

import { deletePrefix, nameIn } from '../adapters/media.ts'
import { tracks } from '../adapters/schema.ts'
import { trash } from '../adapters/trash_schema.ts'
import type { System } from '../context.ts'
import { deleteOrganizationRows, deleteTracks, ownCollections } from './delete_rows.ts'
import {
  AFTER_URLS,
  AFTER_WRITES,
  done,
  end,
  insertJob,
  insertJobFrom,
  type Job,
  type Outcome,
  renew,
  sendJob,
} from './jobs.ts'
import { endUnwanted } from './transcode/unwanted.ts'

type Purge = Job<'purge'>['payload']

/** The job that deletes files, and what else a purge names, at once; for a batch. Send it with `sendJob`. */
export const purgeJob = (system: System, organization_id: string, payload: Omit<Purge, 'kind'>) =>
  insertJob(system, organization_id, { kind: 'purge', ...payload })

/** Deletes files in the background. */
export async function purge(system: System, organization_id: string, prefixes: string[]): Promise<void> {
  const job = purgeJob(system, organization_id, { prefixes })
  await job.insert
  await sendJob(system, job)
}

/**
 * Deletes files that were replaced, when nobody can be playing them any more; the sweep starts it. For a batch. SQL computes the paths:
 * a JSON text for each row of the source (`tracks where …`), or null.
 */
export function purgeLaterFrom(
  system: System,
  organization_id: string,
  paths: SQL,
  source: SQL,
  prefixes: SQL = sql`'[]'`,
) {
  const payload = sql`json_object('kind', 'purge', 'prefixes', json(prefixes), 'paths', json(paths))`
  const found = sql`(select ${paths} as paths, ${prefixes} as prefixes from ${source}) where paths is not null`
  return insertJobFrom(system, organization_id, { kind: 'purge', json: payload }, found, AFTER_URLS)
}

/**
 * The jobs that purge what is deleted, for the batch that deletes it: one now, and one when the last signed URL that could write
 * there has expired. Send the first with `sendJob`.
 */
export function purgeJobs(system: System, organization_id: string, payload: Omit<Purge, 'kind'>) {
  const purge = purgeJob(system, organization_id, payload)
  const { prefixes, folder_id } = payload
  const writes = { kind: 'purge' as const, prefixes, ...(folder_id && { folder_id }) }
  const again = insertJob(system, organization_id, writes, AFTER_WRITES)
  return { purge, inserts: [purge.insert, again.insert] as const }
}

/** Starts the jobs of a deletion, and ends what runs for what was deleted. */
export async function startPurge(system: System, jobs: ReturnType<typeof purgeJob>[]): Promise<void> {
  await Promise.all(jobs.map((job) => sendJob(system, job)))
  await endUnwanted(system)
}

/** Tracks that are looked at in one statement. */
const PAGE = 1000

/** Deletes what a purge job names; a fault is thrown and the whole job repeated. */
export async function runPurge(system: System, job: Job<'purge'>): Promise<Outcome> {
  const { prefixes, paths = [], organization_id, collection_id, folder_id, variant } = job.payload
  const { env } = system
  const alive = () => renew(system, job)
  if (collection_id) await deleteTracks(system, job.organization_id, collection_id, alive)
  if (organization_id) await deleteOrganizationRows(system, organization_id, alive)
  if (variant) await deleteVariantFiles(system, job.organization_id, variant.id, alive)
  if (paths.length > 0) await env.MEDIA.delete(paths)
  const moved = folder_id ? await movedAway(system, folder_id) : undefined
  for (const prefix of prefixes) await deletePrefix(env, prefix, alive, moved && ((path) => moved.has(nameIn(path))))
  await end(system, job)
  return done
}

/**
 * What the files of tracks that have moved are called in the folder that they came from: their ids and indices, and their covers of before,
 * which lay beside those. None joins them once that is deleted.
 */
async function movedAway({ db }: System, folder_id: string): Promise<Set<string>> {
  const names = new Set<string>()
  const inContent = (name: string) => sql<string>`content ->> ${name}`.as(name)
  const trashed = await db
    .select({ id: trash.id, index: inContent('index'), cover_path: inContent('cover_path') })
    .from(trash)
    .where(eq(trash.folder_id, folder_id))
  for (let after = ''; ;) {
    const { id, index, cover_path } = tracks
    const page = await db
      .select({ id, index, cover_path })
      .from(tracks)
      .where(and(eq(tracks.folder_id, folder_id), gt(id, after)))
      .orderBy(asc(id))
      .limit(PAGE)
    for (const track of [...page, ...(after === '' ? trashed : [])]) {
      for (const name of [track.id, track.index, ...(track.cover_path ? [nameIn(track.cover_path)] : [])])
        names.add(name)
    }
    const last = page.at(-1)
    if (!last) return names
    after = last.id
  }
}

/**
 * Takes the files of a deleted variant away from all tracks: from then on no play view shows them. The files themselves go when the
 * last URL to them has expired; the job that deletes them is written together with the loss, so that none is forgotten.
 */
async function deleteVariantFiles(
  system: System,
  organization_id: string,
  variant_id: string,
  alive: () => Promise<unknown>,
): Promise<void> {
  const { db } = system
  const owned = await db.all<{ id: string }>(ownCollections(organization_id))
  const isGone = sql`value ->> 'variant_id' is ${variant_id}`
  for (const { id: collection_id } of owned) {
    for (let cursor = ''; ;) {
      const page = await db
        .select({ id: tracks.id })
        .from(tracks)
        .where(and(eq(tracks.collection_id, collection_id), gt(tracks.id, cursor)))
        .orderBy(asc(tracks.id))
        .limit(PAGE)
      const last = page.at(-1)
      if (!last) break
      const inPage = and(eq(tracks.collection_id, collection_id), gt(tracks.id, cursor), sql`tracks.id <= ${last.id}`)!
      const paths = sql`(select nullif(json_group_array(value ->> 'path'), '[]')
        from tracks, json_each(coalesce(files, '[]')) where ${inPage} and ${isGone})`
      await db.batch([
        purgeLaterFrom(system, organization_id, paths, sql`(select 1)`),
        db
          .update(tracks)
          .set({ files: sql`(select json_group_array(json(value)) from json_each(files) where not (${isGone}))` })
          .where(and(inPage, sql`exists (select 1 from json_each(files) where ${isGone})`)),
      ])
      await alive()
      cursor = last.id
    }
  }
}

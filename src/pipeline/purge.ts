import { and, asc, eq, gt, type SQL, sql } from 'drizzle-orm'

import { newId } from '../adapters/id.ts'
import { deletePrefix, nameIn } from '../adapters/media.ts'
import { tracks } from '../adapters/schema.ts'
import { trash } from '../adapters/trash_schema.ts'
import type { System } from '../context.ts'
import { deleteOrganizationRows, deleteTracks } from './delete_rows.ts'
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

/** Deletes files in the background. */
export async function purge(system: System, organization_id: string, prefixes: string[]): Promise<void> {
  const job = insertJob(system, organization_id, { kind: 'purge', prefixes })
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

/** Whether something lies in the trash: somebody else put it there meanwhile, and it is not to be deleted for good. */
export const inTrash = (id: SQL | string) => sql`${id} in (select id from trash)`

/** What is deleted, and the prefixes of its files. */
type Deleted = { id: string; prefixes: string[] }

/**
 * The jobs that purge what is deleted, for the batch that deletes it: one now, and one when the last signed URL that could write
 * there has expired. Send the first with `sendJob`. What `stays`, such as what lies in the trash, is left out.
 */
export function purgeJobs(
  system: System,
  organization_id: string,
  deleted: Deleted[],
  { folder_id, ...more }: Omit<Purge, 'kind' | 'prefixes'> = {},
  stays: (id: SQL) => SQL = inTrash,
) {
  const purge = { id: newId(), payload: { kind: 'purge' as const } }
  const pairs = deleted.flatMap(({ id, prefixes }) => prefixes.map((prefix) => [id, prefix]))
  const left = sql`(select json_group_array(value ->> '$[1]') as prefixes from json_each(${JSON.stringify(pairs)})
    where not ${stays(sql`value ->> '$[0]'`)}) where prefixes <> '[]'`
  const insert = (id: string, beside: object, delaySeconds: number) => {
    const json = sql`json_patch(json_object('kind', 'purge', 'prefixes', json(prefixes)), ${JSON.stringify(beside)})`
    return insertJobFrom(system, organization_id, { kind: 'purge', json }, left, delaySeconds, { id: sql`${id}` })
  }
  const folder = folder_id && { folder_id }
  const inserts = [insert(purge.id, { ...more, ...folder }, 0), insert(newId(), { ...folder }, AFTER_WRITES)] as const
  return { purge, inserts }
}

/** Starts the jobs of a deletion, and ends what runs for what was deleted. */
export async function startPurge(system: System, jobs: ReturnType<typeof purgeJobs>['purge'][]): Promise<void> {
  await Promise.all(jobs.map((job) => sendJob(system, job)))
  await endUnwanted(system)
}

/** Tracks that are looked at in one statement. */
const PAGE = 1000

/** Tracks read by one statement. */
export async function runPurge(system: System, job: Job<'purge'>): Promise<Outcome> {
  const { prefixes, paths = [], organization_id, collection_id, folder_id, variant, actor = null } = job.payload
  const { env } = system
  const alive = () => renew(system, job)
  if (collection_id) await deleteTracks({ ...system, actor }, job.organization_id, collection_id, alive)
  if (organization_id) await deleteOrganizationRows(system, organization_id, alive)
  if (variant) await deleteVariantFiles(system, job.organization_id, variant.id, alive)
  if (paths.length > 0) await env.MEDIA.delete(paths)
  const moved = folder_id ? await movedAway(system, folder_id) : undefined
  for (const prefix of prefixes) await deletePrefix(env, prefix, alive, moved && ((path) => moved.has(nameIn(path))))
  await end(system, job)
  return done
}

/**
 * Returns the ids and indices of the tracks that moved out of a folder: their files stay there, under these names. No track joins them
 * after the folder's collection is deleted.
 */
async function movedAway({ db }: System, folder_id: string): Promise<Set<string>> {
  const names = new Set<string>()
  const inContent = (name: string) => sql<string>`content ->> ${name}`.as(name)
  // Before the tracks and after them: one that goes there or comes back meanwhile is seen all the same.
  const trashed = () =>
    db
      .select({ id: trash.id, index: inContent('index') })
      .from(trash)
      .where(eq(trash.folder_id, folder_id))
  const before = await trashed()
  for (let after = ''; ;) {
    const { id, index } = tracks
    const page = await db
      .select({ id, index })
      .from(tracks)
      .where(and(eq(tracks.folder_id, folder_id), gt(id, after)))
      .orderBy(asc(id))
      .limit(PAGE)
    const last = page.at(-1)
    for (const track of [...page, ...(last ? [] : [...before, ...(await trashed())])]) {
      names.add(track.id).add(track.index)
    }
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
  const isGone = sql`value ->> 'variant_id' is ${variant_id}`
  const place = sql`(created_at, tracks.rowid)`
  const of = sql`organization_id = ${organization_id}`
  // In the order of their creation, which a move to another collection does not change.
  for (let after = sql`(-1, 0)`; ;) {
    const rows = await db
      .select({ at: tracks.created_at, rowid: sql<number>`tracks.rowid`.as('n') })
      .from(tracks)
      .where(sql`${of} and ${place} > ${after}`)
      .orderBy(asc(tracks.created_at), sql`tracks.rowid`)
      .limit(PAGE)
    const last = rows.at(-1)
    if (!last) return
    const until = sql`(${last.at}, ${last.rowid})`
    const inPage = sql`${of} and ${place} > ${after} and ${place} <= ${until}`
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
    after = until
  }
}

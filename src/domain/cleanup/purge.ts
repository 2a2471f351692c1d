import { and, asc, eq, gt, type SQL, sql } from 'drizzle-orm'

import { deleteFiles, deletePrefix, trackNameOf } from '../../adapters/bucket/media.ts'
import { trackColumn, trackPathSql } from '../../adapters/bucket/track_storage.ts'
import { newId } from '../../adapters/crypto/id.ts'
import { tracks } from '../../adapters/db/schema/library.ts'
import { trash } from '../../adapters/db/schema/trash.ts'
import { jobs } from '../../adapters/db/schema/work.ts'
import type { System } from '../../context.ts'
import {
  AFTER_URLS,
  AFTER_WRITES,
  DONE,
  endJob,
  insertJob,
  insertJobFrom,
  isLeaseHolder,
  type Job,
  LATER,
  type Outcome,
  renew,
  sendJob,
} from '../jobs.ts'
import { filesWhere } from '../stored_files.ts'
import { deleteOrganizationRows, deleteTracks } from './delete_rows.ts'

type Purge = Job<'purge'>['payload']

/** Inserts a job that deletes files, and wakes the consumer to run it in the background. */
export async function purge(system: System, organization_id: string, prefixes: string[]): Promise<void> {
  const job = insertJob(system, organization_id, { kind: 'purge', prefixes })
  await job.insert
  await sendJob(system, job)
}

/**
 * Returns a statement, for a batch, that inserts a job to purge replaced files after the last URL to them has expired; the sweep starts the job.
 * `paths` is a JSON text that SQL computes for each row of the source (`tracks where …`), or null.
 */
export function purgeLaterFrom(
  system: System,
  organization_id: string,
  paths: SQL,
  source: SQL,
  prefixes: SQL = sql`'[]'`,
) {
  const payload = sql`json_object('kind', 'purge', 'prefixes', json(prefixes), 'paths', json(paths))`
  const sourceRows = sql`(select ${paths} as paths, ${prefixes} as prefixes from ${source}) where paths is not null`
  return insertJobFrom(system, organization_id, { kind: 'purge', json: payload }, sourceRows, AFTER_URLS)
}

/** Whether a resource is in the trash. If another request has moved it there in the meantime, it must not be deleted permanently. */
export const inTrash = (id: SQL | string) => sql`${id} in (select id from trash)`

/** A deleted resource, and the prefixes of its files. */
type DeletedResource = { id: string; prefixes: string[] }

/**
 * Returns the statements that insert the purge jobs of deleted resources, for the batch that deletes their rows. The first job runs now: pass it to
 * `sendJob`. The second job runs after the last signed URL that allows a write to these prefixes has expired. Resources for which `isKept` holds,
 * such as resources in the trash, are left out.
 */
export function purgeJobs(
  system: System,
  organization_id: string,
  deleted: DeletedResource[],
  { folder_id, ...extras }: Omit<Purge, 'kind' | 'prefixes'> = {},
  isKept: (id: SQL) => SQL = inTrash,
) {
  const purge = { id: newId(), payload: { kind: 'purge' as const } }
  const pairs = deleted.flatMap(({ id, prefixes }) => prefixes.map((prefix) => [id, prefix]))
  const remainingPrefixes = sql`(select json_group_array(value ->> '$[1]') as prefixes from json_each(${JSON.stringify(pairs)})
    where not ${isKept(sql`value ->> '$[0]'`)}) where prefixes <> '[]'`
  const insert = (id: string, extraFields: object, delaySeconds: number) => {
    const json = sql`json_patch(json_object('kind', 'purge', 'prefixes', json(prefixes)), ${JSON.stringify(extraFields)})`
    return insertJobFrom(system, organization_id, { kind: 'purge', json }, remainingPrefixes, delaySeconds, {
      id: sql`${id}`,
    })
  }
  const folder = folder_id && { folder_id }
  const inserts = [insert(purge.id, { ...extras, ...folder }, 0), insert(newId(), { ...folder }, AFTER_WRITES)] as const
  return { purge, inserts }
}

/** Number of tracks that one statement reads. */
const PAGE = 1000

/**
 * Deletes everything that a purge job names. Throws when something fails; then the whole job is retried. While a bucket lock rule protects a file, the
 * job is retried later.
 */
export async function runPurge(system: System, job: Job<'purge'>): Promise<Outcome> {
  const { prefixes, paths = [], organization_id, collection_id, folder_id, variant, actor = null } = job.payload
  const { env } = system
  const renewLease = () => renew(system, job)
  if (collection_id) await deleteTracks({ ...system, actor }, job.organization_id, collection_id, renewLease)
  if (organization_id) await deleteOrganizationRows(system, organization_id, renewLease)
  if (variant) await deleteVariantFiles(system, job, variant, renewLease)
  let areDeleted = paths.length === 0 || (await deleteFiles(env, paths))
  const namesInUse = folder_id ? await fileNamesInUse(system, folder_id) : undefined
  const isKept = namesInUse && ((path: string) => namesInUse.has(trackNameOf(path)))
  for (const prefix of prefixes) if (!(await deletePrefix(env, prefix, renewLease, isKept))) areDeleted = false
  if (!areDeleted) return LATER
  await endJob(system, job)
  return DONE
}

/**
 * Returns the ids and indices of the tracks that were moved out of a folder. Their files stay in the folder and have these names. The result cannot
 * become outdated: once the folder's collection is deleted, no more tracks can be moved out of it.
 */
async function fileNamesInUse({ db }: System, folder_id: string): Promise<Set<string>> {
  const names = new Set<string>()
  const inContent = (name: string) => sql<string>`content ->> ${name}`.as(name)
  // Reads the trash before and after the tracks, so that no track is missed that is trashed or restored in between.
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
 * Removes the files of a deleted variant from all tracks, so that play views no longer show the files. They are deleted after the last URL to them
 * has expired; the job for that is inserted in the same batch, so that no file is forgotten. That batch also stores the position in the job, because
 * one invocation cannot read all tracks of a large organization.
 */
async function deleteVariantFiles(
  system: System,
  job: Job<'purge'>,
  { id: variant_id, after: [at, rowid] = [-1, 0] }: NonNullable<Purge['variant']>,
  renewLease: () => Promise<unknown>,
): Promise<void> {
  const { db } = system
  const { organization_id } = job
  const isOfVariant = sql`value ->> 4 is ${variant_id}`
  const folder = sql.raw(trackPathSql(trackColumn))
  const position = sql`(created_at, tracks.rowid)`
  const ofOrganization = sql`organization_id = ${organization_id}`
  // Reads the tracks in order of creation, because moving a track to another collection does not change this order.
  for (let after = sql`(${at}, ${rowid})`; ;) {
    const rows = await db
      .select({ at: tracks.created_at, rowid: sql<number>`tracks.rowid`.as('n') })
      .from(tracks)
      .where(sql`${ofOrganization} and ${position} > ${after}`)
      .orderBy(asc(tracks.created_at), sql`tracks.rowid`)
      .limit(PAGE)
    const last = rows.at(-1)
    if (!last) return
    const until = sql`(${last.at}, ${last.rowid})`
    const inPage = sql`${ofOrganization} and ${position} > ${after} and ${position} <= ${until}`
    const paths = sql`(select nullif(json_group_array(${folder} || '/' || (files ->> '$.base') || '/' || (value ->> 0)), '[]')
      from tracks, json_each(files, '$.list') where ${inPage} and ${isOfVariant})`
    await db.batch([
      purgeLaterFrom(system, organization_id, paths, sql`(select 1)`),
      db
        .update(tracks)
        .set({ files: filesWhere(sql`files`, sql`not (${isOfVariant})`) })
        .where(and(inPage, sql`exists (select 1 from json_each(files, '$.list') where ${isOfVariant})`)),
      db
        .update(jobs)
        .set({ payload: sql`json_set(payload, '$.variant.after', json_array(${last.at}, ${last.rowid}))` })
        .where(isLeaseHolder(job)),
    ])
    await renewLease()
    after = until
  }
}

import { and, eq, type SQL, sql } from 'drizzle-orm'

import { deleteFiles } from '../adapters/bucket/media.ts'
import { runBatch } from '../adapters/db/database.ts'
import { folded } from '../adapters/db/fold.ts'
import { tracks } from '../adapters/db/schema/library.ts'
import { jobs, type MultipartRow } from '../adapters/db/schema/work.ts'
import { withFolded } from '../adapters/db/search.ts'
import type { System } from '../context.ts'
import { UPLOAD_TTL } from '../contract/facts.ts'
import { AFTER_URLS, insertJobFrom } from './jobs.ts'
import { hasFinalFiles, isMadeFrom, isMadeFromSource, suffixOf } from './stored_files.ts'

/**
 * The upload handles of a track (docs/decisions/0063). Each handle has its own path, and the file of the newest handle with a complete upload is
 * used. As soon as a track has a second handle, each path gets a purge job whose id is the path, so that every object is either used by the track or
 * deleted.
 */

/** A new upload handle. */
interface Handle {
  path: string
  /** Milliseconds since 1970. */
  expires_at: number
  file_name?: string | undefined
  file_name_original?: string | undefined
}

/**
 * Returns the statements that insert the purge job of a new handle and, if it is missing, that of the previous handle. They must run before the
 * track's update.
 */
export function insertHandlePurges(system: System, organization_id: string, track: SQL, handle: Handle) {
  const insert = (path: SQL, expires_at: SQL, names: SQL, source: SQL, seconds: number) => {
    const upload = sql`json_object('track_id', id, 'expires_at', ${expires_at}, ${names})`
    const json = sql`json_object('kind', 'purge', 'prefixes', json('[]'), 'paths', json_array(${path}), 'upload', ${upload})`
    return insertJobFrom(system, organization_id, { kind: 'purge', json }, source, seconds, { id: path })
  }
  const { path, expires_at, file_name = null, file_name_original = null } = handle
  const folded_name = file_name === null ? null : folded(file_name)
  const names = sql`'file_name', ${file_name}, 'file_name_original', ${file_name_original}, 'folded_name', ${folded_name}`
  const namesAndListedName = file_name === null ? sql`${names}, 'listed_name', file_name` : names
  const namesOfTrack = sql`'file_name', file_name, 'file_name_original', file_name_original, 'folded_name', folded ->> '$.file_name'`
  const previousHandle = sql`${track} and coalesce(source_path, '') < upload_path`
  const seconds = Math.ceil((expires_at - system.now) / 1000) + UPLOAD_TTL
  return [
    insert(sql`upload_path`, sql`upload_expires_at`, namesOfTrack, previousHandle, AFTER_URLS),
    insert(sql`${path}`, sql`${expires_at}`, namesAndListedName, track, seconds),
  ] as const
}

/** A condition for the purge job of an abandoned path. */
export const isAbandoned = (path: string) => sql`id = ${path} and payload -> '$.upload' is null`

/** Whether the parts at a path may have been joined and their total size has not been checked yet. */
export const isUnchecked = (track_id: string, path: string) =>
  sql`exists (select 1 from multipart_uploads where track_id = ${track_id} and path = ${path} and state = 'open')`

/** Runs `isUnchecked` as a query. */
export async function findUnchecked({ db }: System, track_id: string, path: string): Promise<boolean> {
  const [found] = await db.select({ is: sql<number>`${isUnchecked(track_id, path)}`.as('is') }).from(sql`(select 1)`)
  return found!.is === 1
}

/** A condition for using a file as a track's source: the file's handle is newer than that of the current source, and was not abandoned. */
export const canTakeFile = (track_id: string, path: string) =>
  and(
    eq(tracks.id, track_id),
    eq(tracks.awaiting_upload, true),
    sql`coalesce(source_path, '') < ${path} and upload_path >= ${path}`,
    sql`not ${isUnchecked(track_id, path)}`,
    sql`not exists (select 1 from jobs where ${isAbandoned(path)})`,
  )!

const uploadField = (field: string, path: SQL) =>
  sql`(select payload ->> ${`$.upload.${field}`} from jobs where id = ${path})`

/** The file name given for a path's handle; if there is none, the name in the track's row. */
const nameOf = (column: 'file_name' | 'file_name_original', path: SQL) =>
  sql<string>`coalesce(${uploadField(column, path)}, tracks.${sql.raw(column)})`

/** The name with which the file at a path is listed after it was replaced. */
const listedName = (path: SQL) =>
  sql<string>`coalesce(${uploadField('listed_name', path)}, ${nameOf('file_name', path)})`

/** The column `folded` for the names of a path's handle. */
const foldedOf = (path: SQL) =>
  sql<string>`iif(${uploadField('file_name', path)} is null, folded, ${withFolded(sql`json_object('file_name', ${uploadField('folded_name', path)})`)})`

/** The names of the track's source, and the value of `folded` that matches them. */
export const namesOfSource = {
  file_name: nameOf('file_name', sql`source_path`),
  file_name_original: nameOf('file_name_original', sql`source_path`),
  folded: foldedOf(sql`source_path`),
}

/**
 * The columns that change when a track uses a new file. A track with final files keeps them and its names until the new files are ready; an early file
 * of the previous source plays no longer, because the track has the name of the new one. If the previous source was still being processed, it is added
 * to `info.replaced_uploads`.
 */
export function columnsOfTakenFile(path: string) {
  const isReplaced = sql`(status in ('processing', 'fallback_processing') and source_path is not null
    and not ${isMadeFromSource})`
  const name = (column: 'file_name' | 'file_name_original') =>
    sql`iif(${hasFinalFiles}, ${sql.raw(column)}, ${nameOf(column, sql`${path}`)})`
  return {
    file_name: name('file_name'),
    file_name_original: name('file_name_original'),
    folded: sql`iif(${hasFinalFiles}, folded, ${foldedOf(sql`${path}`)})`,
    awaiting_upload: false,
    files: sql`iif(${hasFinalFiles}, files, null)`,
    duration: sql`iif(${hasFinalFiles}, duration, 0)`,
    info: sql`iif(${isReplaced},
      ${withReplaced(sql`json_remove(info, '$.error')`, listedName(sql`source_path`), sql`source_size`)},
      json_remove(info, '$.error', '$.replaced_uploads'))`,
  }
}

/** Adds a replaced upload to `info`, which keeps the newest 20. */
function withReplaced(info: SQL, file_name: SQL, size: SQL): SQL {
  const newestReplaced = sql`(select json_group_array(json(value)) from (select value from (
    select key, value from json_each(coalesce(info -> '$.replaced_uploads', '[]'))
    union all select 20, json_object('file_name', ${file_name}, 'size', ${size}) order by key desc limit 20) order by key))`
  return sql`json_set(${info}, '$.replaced_uploads', json(${newestReplaced}))`
}

/**
 * Deletes the file at a handle that is older than that of the track's source, unless the track uses it, and lists it in `info` once. Returns false if
 * a bucket lock rule protects the file.
 */
export async function discardUpload(
  { db, env }: System,
  track_id: string,
  { path, size }: { path: string; size: number },
): Promise<boolean> {
  const isUnlisted = sql`id = ${path} and state = 'open' and payload -> '$.upload' is not null
    and payload ->> '$.upload.is_replaced' is null and not ${isUnchecked(track_id, path)}`
  const file_name = listedName(sql`${path}`)
  const usingTrack = db
    .select({ id: tracks.id })
    .from(tracks)
    .where(
      sql`id = ${track_id} and (source_path = ${path} or ${isUnchecked(track_id, path)}
        or ${isMadeFrom(path)})`,
    )
  const resultOf = await runBatch(db, [
    db
      .update(tracks)
      .set({ info: withReplaced(sql`info`, file_name, sql`${size}`) })
      .where(sql`id = ${track_id} and source_path > ${path} and exists (select 1 from jobs where ${isUnlisted})`),
    db
      .update(jobs)
      .set({ payload: sql`json_set(payload, '$.upload.is_replaced', 1)` })
      .where(isUnlisted),
    usingTrack,
  ])
  return resultOf(usingTrack).length > 0 || deleteFiles(env, path)
}

/** Returns the paths of handles that are older than that of the track's source and whose purge jobs have not run yet. */
export async function replacedPaths({ db }: System, source_path: string): Promise<string[]> {
  const [first = source_path] = source_path.split('.')
  const rows = await db
    .select({ path: jobs.id })
    .from(jobs)
    .where(sql`id >= ${first} and id < ${source_path} and state = 'open' and payload -> '$.upload' is not null`)
  return rows.map(({ path }) => path)
}

/**
 * Returns the statements that abandon a path: its job becomes an ordinary purge job, and the track waits for the previous handle if that is still
 * open.
 */
export function abandonPath(
  { db, now }: System,
  { track_id, path }: Pick<MultipartRow, 'track_id' | 'path'>,
  condition: SQL,
) {
  const [first = path] = path.split('.')
  const ofPreviousHandle = (
    column: SQL,
  ) => sql`(select ${column} from jobs where id >= ${first} and id < ${path} and state = 'open'
    and id > coalesce(tracks.source_path, '') and payload -> '$.upload' is not null order by id desc limit 1)`
  const purgeAt = now + AFTER_URLS * 1000
  return [
    db
      .update(jobs)
      .set({ payload: sql`json_remove(payload, '$.upload')`, lease_until: purgeAt, wake_at: purgeAt })
      .where(and(eq(jobs.id, path), condition)),
    db
      .update(tracks)
      .set({
        upload_suffix: sql`coalesce(${suffixOf(ofPreviousHandle(sql`id`))}, '')`,
        upload_expires_at: sql`coalesce(${ofPreviousHandle(sql`payload ->> '$.upload.expires_at'`)}, ${now})`,
        next_check_at: now,
        awaiting_upload: sql`source_path is null or ${ofPreviousHandle(sql`1`)} is not null`,
      })
      .where(sql`id = ${track_id} and upload_path = ${path} and awaiting_upload and ${condition}`),
  ] as const
}

import { and, eq, type SQL, sql } from 'drizzle-orm'

import { deleteFiles } from '../adapters/bucket/media.ts'
import { insertFrom, runBatch } from '../adapters/db/database.ts'
import { folded } from '../adapters/db/fold.ts'
import { tracks } from '../adapters/db/schema/library.ts'
import { uploadHandles } from '../adapters/db/schema/upload_handles.ts'
import type { MultipartRow } from '../adapters/db/schema/work.ts'
import { withFolded } from '../adapters/db/search.ts'
import type { System } from '../context.ts'
import { oneLine } from '../contract/text.ts'
import { HOUR } from '../contract/time.ts'
import { AFTER_URLS } from './jobs.ts'
import { hasFinalFiles, isMadeFrom, isMadeFromSource, suffixOf } from './stored_files.ts'

/**
 * The upload handles of a track (docs/decisions/0063). Each handle has its own path, and the file of the newest handle with a complete upload is
 * used. As soon as a track has a second handle, each of them has a row in `upload_handles`, so that every object is either used by the track or deleted.
 */

/** Milliseconds from the end of a handle's URLs to its check: an upload that started in time may end later. */
export const CHECK_AFTER = HOUR

/** A new upload handle. */
interface Handle {
  path: string
  /** Milliseconds since 1970. */
  expires_at: number
  file_name?: string | undefined
  file_name_original?: string | undefined
}

/**
 * Returns the statements that insert a new handle and, if it is missing, the previous handle of the track (`tracks where …`), with the names of the track.
 * They must run before the track's update.
 */
export function insertHandles({ db, now }: System, track: SQL, { path, expires_at, ...names }: Handle) {
  const { file_name = null, file_name_original = null } = names
  const previous = {
    track_id: sql`id`,
    path: sql`upload_path`,
    expires_at: sql`upload_expires_at`,
    check_at: sql`max(upload_expires_at, ${now}) + ${CHECK_AFTER}`,
    file_name: sql`file_name`,
    file_name_original: sql`file_name_original`,
    folded_name: sql`folded ->> '$.file_name'`,
    listed_name: sql`file_name`,
  }
  const added = {
    track_id: sql`id`,
    path,
    expires_at,
    check_at: expires_at + CHECK_AFTER,
    file_name,
    file_name_original,
    folded_name: file_name === null ? null : folded(file_name),
    listed_name: file_name ?? sql`file_name`,
  }
  return [
    insertFrom(
      db,
      uploadHandles,
      previous,
      sql`${track} and coalesce(source_path, '') < upload_path`,
    ).onConflictDoNothing(),
    insertFrom(db, uploadHandles, added, track).onConflictDoNothing(),
  ] as const
}

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
    sql`not exists (select 1 from upload_handles where track_id = tracks.id and path = ${path} and state = 'abandoned')`,
  )!

/**
 * A condition for a handle whose row is still needed: its file may be used later, or is the track's source from which no files have been made yet, so that
 * its name is needed. The file of a track in the trash is kept, because the track may be restored.
 */
export const isHandleNeeded = (track_id: string, path: string) => sql`(
  exists (select 1 from tracks where ${eq(tracks.id, track_id)} and not ${isMadeFrom(path)}
    and (source_path = ${path} or (${canTakeFile(track_id, path)})))
  or ${isUnchecked(track_id, path)} or exists (select 1 from trash where id = ${track_id}))`

const handleColumn = (column: 'file_name' | 'file_name_original' | 'folded_name' | 'listed_name', path: SQL) =>
  sql`(select ${sql.raw(column)} from upload_handles where track_id = tracks.id and path = ${path})`

/** The file name given for a path's handle; if there is none, the name in the track's row. */
const nameOf = (column: 'file_name' | 'file_name_original', path: SQL) =>
  sql<string>`coalesce(${handleColumn(column, path)}, tracks.${sql.raw(column)})`

/** The name with which the file at a path is listed after it was replaced. */
const listedName = (path: SQL) => sql<string>`coalesce(${handleColumn('listed_name', path)}, tracks.file_name)`

/** The column `folded` for the names of a path's handle. */
const foldedOf = (path: SQL) =>
  sql<string>`iif(${handleColumn('file_name', path)} is null, folded, ${withFolded(sql`json_object('file_name', ${handleColumn('folded_name', path)})`)})`

/** The names of the track's source, and the value of `folded` that matches them. */
export const namesOfSource = {
  file_name: nameOf('file_name', sql`source_path`),
  file_name_original: nameOf('file_name_original', sql`source_path`),
  folded: foldedOf(sql`source_path`),
}

/**
 * The columns that change when a track uses a new file. A track with final files keeps them and its names until the new files are ready; an early file
 * of the previous source no longer plays, because the track has the name of the new one. If the previous source was still being processed, it is added
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
 * Deletes the file at a path unless the track uses it or may still use it. If it was replaced by the file of a newer handle, lists it in `info` once.
 * Returns false if a bucket lock rule protects the file.
 */
export async function discardUpload(
  { db, env }: System,
  track_id: string,
  { path, size }: { path: string; size: number },
): Promise<boolean> {
  // A handle stays open while its file is only kept: for a track in the trash, which may be restored, or for a track that waits for it.
  const isReplaced = sql`exists (select 1 from tracks where id = ${track_id} and source_path > ${path})`
  const isUnlisted = sql`track_id = ${track_id} and path = ${path} and state = 'open' and ${isReplaced} and not ${isUnchecked(track_id, path)}`
  const isUsed = sql<number>`exists (select 1 from tracks where id = ${track_id} and ${isMadeFrom(path)}) or ${isHandleNeeded(track_id, path)}`
  const use = db.select({ isUsed: isUsed.as('is_used') }).from(sql`(select 1)`)
  const resultOf = await runBatch(db, [
    db
      .update(tracks)
      .set({ info: withReplaced(sql`info`, listedName(sql`${path}`), sql`${size}`) })
      .where(sql`id = ${track_id} and exists (select 1 from upload_handles where ${isUnlisted})`),
    db.update(uploadHandles).set({ state: 'replaced' }).where(isUnlisted),
    use,
  ])
  return resultOf(use)[0]!.isUsed === 1 || deleteFiles(env, path)
}

/** Returns the paths of a track's handles that are older than that of its source and whose files were never used. */
export async function replacedPaths({ db }: System, track_id: string, source_path: string): Promise<string[]> {
  const rows = await db
    .select({ path: uploadHandles.path })
    .from(uploadHandles)
    .where(sql`track_id = ${track_id} and path < ${source_path} and state in ('open', 'replaced')`)
  return rows.map(({ path }) => path)
}

/** Returns the statements that abandon a path: no file there is used, and the track waits for the previous handle if that is still open. */
export function abandonPath(
  { db, now }: System,
  { track_id, path }: Pick<MultipartRow, 'track_id' | 'path'>,
  condition: SQL,
) {
  const ofPreviousHandle = (column: SQL) => sql`(select ${column} from upload_handles where track_id = tracks.id
    and path > coalesce(source_path, '') and path < ${path} and state = 'open' order by path desc limit 1)`
  return [
    db
      .update(uploadHandles)
      .set({ state: 'abandoned', check_at: now + AFTER_URLS * 1000 })
      .where(sql`track_id = ${track_id} and path = ${path} and ${condition}`),
    db
      .update(tracks)
      .set({
        upload_suffix: sql`coalesce(${suffixOf(ofPreviousHandle(sql`path`))}, '')`,
        upload_expires_at: sql`coalesce(${ofPreviousHandle(sql`expires_at`)}, ${now})`,
        next_check_at: now,
        awaiting_upload: sql`source_path is null or ${ofPreviousHandle(sql`1`)} is not null`,
      })
      .where(sql`id = ${track_id} and upload_path = ${path} and awaiting_upload and ${condition}`),
  ] as const
}

/** Returns the columns for a file's name; no columns if there is no name. */
export const namesOf = ({ file_name }: { file_name?: string | undefined }) =>
  file_name === undefined ? {} : { file_name: safeFileName(file_name), file_name_original: file_name }

/** Returns a single-line name without folders, for downloads. `file_name_original` stores the name as the client sent it. */
export const safeFileName = (name: string) => oneLine(name.split(/[/\\]/).at(-1)!) || 'audio'

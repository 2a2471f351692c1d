import { type SQL, sql } from 'drizzle-orm'

import {
  type ColumnSql,
  HAS_FINAL_FILES,
  trackColumn,
  trackPathSql,
  uploadPathSql,
} from '../adapters/bucket/track_storage.ts'

/**
 * SQL expressions for `tracks.files`. Their argument `files` is the JSON text of a `StoredFiles`, or null. Use them only in queries that read
 * `tracks`.
 */

/** Whether a track has final files, in contrast to an early file. */
export const hasFinalFiles = sql.raw(HAS_FINAL_FILES)

/** The suffix of an upload's path (`uploadSuffix`). */
export const suffixOf = (path: SQL) => sql<string>`substr(${path}, instr(${path} || '.', '.'))`

/** Whether the track's files were made from the upload at this path. */
export const isMadeFrom = (path: string) => sql`coalesce(tracks.files ->> '$.source' = ${suffixOf(sql`${path}`)}, 0)`
/** Whether the track's files were made from its current source. */
export const isMadeFromSource = sql.raw(`coalesce(tracks.files ->> '$.source' = tracks.source_suffix, 0)`)

/** Selects the paths of files, as rows with one column `path`. */
export const filePaths = (files: SQL, column: ColumnSql = trackColumn) => sql`
  select iif(value ->> 0 = 'original', ${sql.raw(uploadPathSql(column))} || (stored ->> '$.source'),
    ${sql.raw(trackPathSql(column))} || '/' || (stored ->> '$.base') || '/' || (value ->> 0)) as path
  from (select ${files} as stored) as listed, json_each(stored, '$.list')`

/** Returns the paths that `paths` selects and `others` does not, as a JSON text; null when there are none. */
export const pathsWithout = (paths: SQL, others: SQL) => sql<string | null>`(
  select nullif(json_group_array(path), '[]') from (select path from (${paths}) except select path from (${others})))`

/** Returns `files` with only the entries that meet a condition on `value`, which is a `StoredFile`. */
export const filesWhere = (files: SQL, condition: SQL) => sql<string>`json_set(${files}, '$.list', (
  select json_group_array(json(value)) from json_each(${files}, '$.list') where ${condition}))`

/** Returns `files` without the files of variants that have been deleted in the meantime. */
export const definedFiles = (files: SQL) =>
  filesWhere(files, sql`value ->> 4 is null or exists (select 1 from variants where id = value ->> 4)`)

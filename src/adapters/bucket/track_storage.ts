import type { StoredFile, TrackFile } from './track_files.ts'

/** The stored parts of a track's files and paths, and both in SQL (docs/decisions/0069). */

/** The name of the folder, below `trackPath`, that holds what one job made. */
export const jobFolder = (job_id: string) => job_id.slice(-8)

/** The part of an upload path that a row stores: empty, or a dot with the text behind it. */
export const uploadSuffix = (path: string) => path.slice(`${path}.`.indexOf('.'))

/** How SQL refers to a column of the track. */
export type ColumnSql = (name: string) => string
export const trackColumn: ColumnSql = (name) => `tracks."${name}"`

const folderSql = (column: ColumnSql) =>
  `${column('organization_id')} || '/' || coalesce(${column('folder_id')}, ${column('collection_id')})`
/** `uploadPath` in SQL. */
export const uploadPathSql = (column: ColumnSql) => `'uploads/' || ${folderSql(column)} || '/' || ${column('id')}`
/** `trackPath` in SQL. */
export const trackPathSql = (column: ColumnSql) => `'media/' || ${folderSql(column)} || '/' || ${column('index')}`

/** Returns an entry of `StoredFiles`. */
export const storedFile = (
  name: string,
  { size, bitrate, duration }: Pick<TrackFile, 'size' | 'bitrate' | 'duration'>,
  variant_id?: string,
): StoredFile =>
  variant_id === undefined ? [name, size, bitrate, duration] : [name, size, bitrate, duration, variant_id]

/** The index of the variant whose file has this name, in SQL. */
export const indexSql = (name: string) => `substr(${name}, 1, instr(${name} || '.', '.') - 1)`

/** Whether a track has any file, in SQL. */
export const HAS_FILES = `(tracks.files ->> '$.list[0][0]' is not null)`

/** Whether a track has files and they are not early ones, in SQL. */
export const HAS_FINAL_FILES = `(tracks.files ->> '$.list[0][0]' is not null and tracks.files ->> '$.is_early' is null)`

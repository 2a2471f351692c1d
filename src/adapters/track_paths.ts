/**
 * Storage paths of a track. They follow from its ids, so a row stores only the part that varies (docs/decisions/0069). Plain text, without
 * Drizzle: play views use it (docs/decisions/0029).
 */

export interface PathOwner {
  id: string
  organization_id: string
  collection_id: string
  /** The collection that the track was in when it moved for the first time; null if it never moved. */
  folder_id: string | null
}

/** The collection whose folder holds a track's files. */
export const folderOf = ({ folder_id, collection_id }: Pick<PathOwner, 'folder_id' | 'collection_id'>) =>
  folder_id ?? collection_id

/** The path of a track's first upload. Paths of later uploads have a suffix. */
export const uploadPath = (track: PathOwner) => `uploads/${track.organization_id}/${folderOf(track)}/${track.id}`

/** The folder that holds everything made from a track's uploads. */
export const trackPath = (track: Omit<PathOwner, 'id'> & { index: string }) =>
  `media/${track.organization_id}/${folderOf(track)}/${track.index}`

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

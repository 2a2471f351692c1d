/**
 * Storage paths of a track. They follow from its ids, so a row stores only the part that varies (docs/decisions/0069). An isolate loads this
 * when it starts, and the rest of it in track_storage.ts later (docs/decisions/0029).
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

/**
 * Storage paths of a track. They follow from its ids, so a row stores only the part that varies (docs/decisions/0069). A new isolate loads this file
 * when it starts; the related functions in track_storage.ts are loaded later (docs/decisions/0029).
 */

export interface PathOwner {
  id: string
  organization_id: string
  collection_id: string
  /** The collection that the track was in when it moved for the first time; null if it never moved. */
  folder_id: string | null
}

/** Returns the id of the collection whose folder holds the files of a track. */
export const folderOf = ({ folder_id, collection_id }: Pick<PathOwner, 'folder_id' | 'collection_id'>) =>
  folder_id ?? collection_id

/** Returns the path of a track's first upload. The paths of later uploads have a suffix. */
export const uploadPath = (track: PathOwner) => `uploads/${track.organization_id}/${folderOf(track)}/${track.id}`

/** Returns the folder that holds everything generated from a track's uploads. */
export const trackPath = (track: Omit<PathOwner, 'id'> & { index: string }) =>
  `media/${track.organization_id}/${folderOf(track)}/${track.index}`

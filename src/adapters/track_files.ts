/** A file as play views need it. */
export interface PlayedFile {
  index: string
  path: string
  bitrate: number
  is_early: 0 | 1
}

/** The value of `tracks.files` in SQL, where `tracks` is read or written. */
export const FILE_LIST = `(
  select json_group_array(json_object('index', "index", 'path', path, 'bitrate', bitrate, 'is_early', is_early))
  from track_variants where track_id = tracks.id
)`

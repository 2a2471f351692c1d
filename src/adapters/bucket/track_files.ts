import { contentTypeOf, sourceTypeOf } from '../../contract/facts.ts'
import type { TrackVariant } from '../../contract/track_variant.ts'
import { type PathOwner, trackPath, uploadPath } from './track_paths.ts'

/**
 * The files of a track. A new isolate loads this file when it starts (docs/decisions/0029); code that it does not need at once is in
 * track_storage.ts.
 */

export interface TrackFile {
  index: string
  path: string
  /** Size in bytes. */
  size: number
  /** Bitrate in kbit/s. */
  bitrate: number
  /** Duration in seconds. */
  duration: number
  /** The id of the organization's own variant; null for a variant of the catalog. */
  variant_id: string | null
  /** Set for the early file of a track that is still being processed. This is then the track's only file. */
  is_early: 0 | 1
}

/**
 * One file in `tracks.files`: its name, bytes, kbit/s, seconds, and the id of the variant if the organization has defined it. The file name without
 * its extension is the variant's index; `original` is the upload.
 */
export type StoredFile = [name: string, size: number, bitrate: number, duration: number, variant_id?: string]

/** The column `tracks.files`. Paths are not stored: they follow from the track's ids, `base` and `source`. */
export interface StoredFiles {
  /** The name of the job's folder (`jobFolder`). */
  base: string
  /** The suffix of the upload's path (`uploadSuffix`); present if `list` contains `original`. */
  source?: string
  is_early?: 1
  /** The files in the order of the catalog. */
  list: StoredFile[]
}

/** The columns that `filesOf` reads. */
export type FilesOwner = PathOwner & { index: string; files: StoredFiles | null }

/** Returns the files of a track with their paths. */
export function filesOf(track: FilesOwner): TrackFile[] {
  if (!track.files) return []
  const { base, source = '', is_early = 0, list } = track.files
  const folder = `${trackPath(track)}/${base}/`
  return list.map(([name, size, bitrate, duration, variant_id = null]) => {
    const path = name === 'original' ? uploadPath(track) + source : folder + name
    return { index: name.split('.', 1)[0]!, path, size, bitrate, duration, variant_id, is_early }
  })
}

/** Returns a file as the API shows it. `container` is the format of the upload, as ffmpeg names it. */
export const toTrackVariant = (
  { index, path, size, bitrate, duration }: TrackFile,
  container: string | null | undefined,
): TrackVariant => ({
  index,
  content_type: index === 'original' ? sourceTypeOf(container) : contentTypeOf(path.split('.').at(-1)!),
  size,
  bitrate,
  duration,
})

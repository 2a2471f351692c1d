/** One of the files that a track has. Plain text here: play views do without Drizzle (docs/decisions/0029). */
export interface TrackFile {
  index: string
  path: string
  /** Bytes, kbit/s, seconds. */
  size: number
  bitrate: number
  duration: number
  /** Of a variant of the organization's own. */
  variant_id: string | null
  /** A first file of a track that is still being processed. Such a file never stands beside others than its like. */
  is_early: 0 | 1
}

/** What play views need of it. */
export type PlayedFile = Pick<TrackFile, 'index' | 'path' | 'bitrate' | 'is_early'>

/** Whether a track has files that are no early ones, in SQL, where `tracks` is read. */
export const HAS_FINAL_FILES = `(coalesce(tracks.files ->> '$[0].is_early', 1) = 0)`

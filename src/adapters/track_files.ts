/** A file of a track. No Drizzle in this module, because play views do not load it (docs/decisions/0029). */
export interface TrackFile {
  index: string
  path: string
  /** Bytes, kbit/s, seconds. */
  size: number
  bitrate: number
  duration: number
  /** The organization's own variant; null for one of the catalog. */
  variant_id: string | null
  /** 1 for a first file of a track that is still being processed. A track never has early and final files at the same time. */
  is_early: 0 | 1
}

/** The columns that play views need. */
export type PlayedFile = Pick<TrackFile, 'index' | 'path' | 'bitrate' | 'is_early'>

/** SQL condition on `tracks`: whether a track has final files. */
export const HAS_FINAL_FILES = `(coalesce(tracks.files ->> '$[0].is_early', 1) = 0)`

import { filesOf, type StoredFiles } from '../../src/adapters/bucket/track_files.ts'
import type { Row } from '../../src/contract/backup.ts'

/** Returns the row of a resource: a row of the trash contains it. */
export const contentOf = (table: string, row: Row): Row =>
  table === 'trash' ? (JSON.parse(row.content as string) as Row) : row

/** Returns the paths of the files of a track, for the row of a track as the database stores it. */
export function filePathsOf(track: Row): string[] {
  const files =
    track.files === null || track.files === undefined ? null : (JSON.parse(track.files as string) as StoredFiles)
  return filesOf({ ...(track as unknown as Parameters<typeof filesOf>[0]), files }).map(({ path }) => path)
}

/** Returns the paths of the square images of a cover. */
export function coverPathsOf({ cover_path, cover_size }: Row): string[] {
  if (typeof cover_path !== 'string') return []
  const sizes = ['icon', 'small', 'regular', ...(cover_size === null ? [] : ['large'])]
  return sizes.map((size) => `${cover_path}/${size}.jpg`)
}

/** The row without its cover. */
export const withoutCover = (row: Row): Row => ({ ...row, cover_path: null, cover_size: null, cover_colors: '[]' })

/** The prefixes of hidden entries in `playlist_tracks.playlist_id` (src/adapters/db/playlist_order.ts). */
const PREFIX = /^(whole|alone):/

export const playlistOf = (entry: Row) => String(entry.playlist_id).replace(PREFIX, '')

/**
 * Returns an entry with the prefix that its playlist and its track require. They may have been moved to the trash, or restored from it, after the
 * entry was read.
 */
export function entryWithPlace(entry: Row, playlistIsLive: boolean, trackIsLive: boolean): Row {
  const prefix = playlistIsLive
    ? trackIsLive
      ? ''
      : 'alone:'
    : String(entry.playlist_id).match(PREFIX)?.[0] || 'whole:'
  return { ...entry, playlist_id: prefix + playlistOf(entry) }
}

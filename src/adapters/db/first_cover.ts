import type { tracks } from './schema/library.ts'

/**
 * The cover of a collection without its own cover is that of its first track, unless the collection ignores covers of tracks or the organization
 * ignores tags (docs/tags.md). The first track is read only if its cover is needed.
 */

export type FirstCover = Pick<typeof tracks.$inferSelect, 'cover_path' | 'cover_colors' | 'cover_size'>

/** The cover. Without one, `levels` has the levels in hexadecimal from which a cover is generated (docs/decisions/0094). */
export type FirstLook = FirstCover & { levels: string | null }

const IS_BORROWED =
  'collections.is_cover_overridable and organizations.is_cover_overridable and organizations.uses_tags'

const firstTrack = (condition: string, fields: string) => `case when collections.cover_path is null${condition}
  then (select json_object(${fields}, 'cover_colors', json(cover_colors), 'cover_size', cover_size)
    from tracks as places where places.collection_id = collections.id order by places."order" limit 1) end`

/** The cover of the first track as JSON, for statements that read `collections` and `organizations`; null if the collection has its own cover. */
export const FIRST_COVER = firstTrack(` and ${IS_BORROWED}`, `'cover_path', cover_path`)
/** The same with the levels of the first track. `cover_path` is null if the collection does not have the cover of its tracks. */
export const FIRST_LOOK = firstTrack(
  '',
  `'cover_path', iif(${IS_BORROWED}, cover_path, null), 'levels', iif(${IS_BORROWED} and cover_path is not null, null, hex(levels))`,
)
/** The levels of the first track of a playlist without a cover, in hexadecimal. */
export const PLAYLIST_LEVELS = `case when playlists.cover_path is null then (select hex(listed.levels)
  from playlist_tracks as places join tracks as listed on listed.id = places.track_id
  where places.playlist_id = playlists.id order by places.position limit 1) end`

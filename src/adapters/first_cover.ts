import type { tracks } from './schema.ts'

/**
 * The cover of a collection that has none of its own: its first track's, unless tracks' covers count for nothing there, or the tags of files do
 * (docs/tags.md). One row more, and only where it is needed.
 */

export type FirstCover = Pick<typeof tracks.$inferSelect, 'cover_path' | 'cover_colors' | 'cover_size'>

/** That cover as JSON, where `collections` and `organizations` are read; null when the collection has one itself. */
export const FIRST_COVER = `case when collections.cover_path is null and collections.is_cover_overridable
  and organizations.is_cover_overridable and organizations.uses_tags
  then (select json_object('cover_path', cover_path, 'cover_colors', json(cover_colors), 'cover_size', cover_size)
    from tracks as places where places.collection_id = collections.id order by places."order" limit 1) end`

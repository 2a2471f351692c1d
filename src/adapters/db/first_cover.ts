import type { tracks } from './schema/library.ts'

/**
 * The cover of a collection without its own cover is that of its first track, unless the collection ignores covers of tracks or the organization
 * ignores tags (docs/tags.md). The first track is read only if its cover is needed.
 */

export type FirstCover = Pick<typeof tracks.$inferSelect, 'cover_path' | 'cover_colors' | 'cover_size'>

/** The cover of the first track as JSON, for statements that read `collections` and `organizations`; null if the collection has its own cover. */
export const FIRST_COVER = `case when collections.cover_path is null and collections.is_cover_overridable
  and organizations.is_cover_overridable and organizations.uses_tags
  then (select json_object('cover_path', cover_path, 'cover_colors', json(cover_colors), 'cover_size', cover_size)
    from tracks as places where places.collection_id = collections.id order by places."order" limit 1) end`

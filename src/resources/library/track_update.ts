import { type SQL, sql } from 'drizzle-orm'

import { tracks } from '../../adapters/db/schema/library.ts'
import { foldedUpdate } from '../../adapters/db/search.ts'
import type { Context } from '../../context.ts'
import type { TrackUpdate } from '../../contract/track.ts'
import { notFound } from '../../core/errors.ts'
import { editedTagColumns, hasTags, type TagColumns, tagsAfter, tagsText } from '../../domain/edited_tags.ts'
import { isApplied } from './version.ts'

/** The columns that an update of a track sets, also in a batch. */

/** Splits an update into columns and tags. `changed` has the names of the changed fields; undefined if the update is empty. */
export function updateOf({ title, tags, ...fields }: TrackUpdate) {
  const columns = { ...(title !== undefined && { player_title: title }), ...fields }
  const setsTags = tags !== undefined && Object.keys(tags).length > 0
  const changed = [...Object.keys(columns), ...(setsTags ? ['tags'] : [])]
  return changed.length > 0 ? { columns, changed, ...(setsTags && { tags }) } : undefined
}
type Update = NonNullable<ReturnType<typeof updateOf>>

/** Returns the tags of a track with their text, which an update of tags compares. */
export async function findTags({ db }: Context, isTrack: SQL | undefined) {
  const { tags, edited_tags, file_tags } = tracks
  const columns = { tags, edited_tags, file_tags, tags_text: tagsText.as('tags_text') }
  const row = await db.select(columns).from(tracks).where(isTrack).get()
  if (!row) throw notFound('track')
  return row
}

/** The condition that the tags of a row are those that were read, since the folded text is computed from them. */
export const hasTagsText = (text: string) => sql`${tagsText} = ${text}`

/** Returns all columns that the update of a row sets. An update with tags needs those of the row, for the search, and the condition `hasTagsText`. */
export const updateSet = ({ columns, tags }: Update, row: TagColumns | null | undefined) => ({
  ...columns,
  ...(tags && editedTagColumns(tags)),
  ...foldedUpdate('tracks', { ...columns, ...(tags && row && { tags: tagsAfter(row, tags) }) }),
})

/** Whether a row already has the values of an update. */
export const hasUpdate = (row: Parameters<typeof isApplied>[0] & TagColumns, { columns, tags }: Update) =>
  isApplied(row, columns) && (!tags || hasTags(row, tags))

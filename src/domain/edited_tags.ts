import { type SQL, sql } from 'drizzle-orm'

import type { EditedTags } from '../adapters/db/column_types.ts'
import { foldedUpdate } from '../adapters/db/search.ts'
import type { Tags } from '../contract/info.ts'
import type { TagsUpdate } from '../contract/tags.ts'

/**
 * The tags that people set (docs/decisions/0050). The column `tags` has the effective tags, so that nothing that reads tags has to know the others.
 */

export interface TagColumns {
  tags: Tags | null
  edited_tags: EditedTags | null
  file_tags: Tags | null
}

/** The tags of a row as one text, by which an update notices that they have changed since it read them. */
export const tagsText = sql<string>`json_array(tags, edited_tags, file_tags)`

/** Returns the tags of the file alone. */
export const tagsOfFile = ({ tags, edited_tags, file_tags }: TagColumns): Tags => (edited_tags ? file_tags : tags) ?? {}

/** Returns a file's tags with the values that people have set. */
export const withEdits = (file: Tags, edited: EditedTags | null): Tags =>
  Object.fromEntries(Object.entries({ ...file, ...edited }).filter(([, value]) => value !== null)) as Tags

/** Returns the values that an update sets, with null for a hidden tag, and the names of those that return to the file's. */
function changesOf({ date, ...others }: TagsUpdate) {
  const all = { ...others, date, year: date && Number(date.slice(0, 4)) }
  const given = Object.entries(all).filter(([, value]) => value !== undefined)
  const set = given.flatMap(([name, value]) => (value === null ? [] : [[name, value || null] as const]))
  return { set, removed: given.flatMap(([name, value]) => (value === null ? [name] : [])) }
}

/** Returns the column `edited_tags` after an update. */
function editedAfter(edited: EditedTags | null, update: TagsUpdate): EditedTags | null {
  const { set, removed } = changesOf(update)
  const all = Object.entries({ ...edited, ...Object.fromEntries(set) }).filter(([name]) => !removed.includes(name))
  return all.length > 0 ? (Object.fromEntries(all) as EditedTags) : null
}

/** Whether a row already has the tags of an update. */
export const hasTags = ({ edited_tags }: TagColumns, update: TagsUpdate) =>
  JSON.stringify(editedAfter(edited_tags, update)) === JSON.stringify(edited_tags)

/** Returns the effective tags of a row after an update. */
export const tagsAfter = (row: TagColumns, update: TagsUpdate): Tags =>
  withEdits(tagsOfFile(row), editedAfter(row.edited_tags, update))

/**
 * Returns the columns that an update of tags sets. They are computed from the row in the same statement, so two people who set different tags at the same
 * time both succeed. The folded text is computed from `tagsAfter`, so the statement must compare `tagsText`.
 */
export function editedTagColumns(update: TagsUpdate) {
  const { set, removed } = changesOf(update)
  const path = (name: string) => sql.raw(`'$.${name}'`)
  const pairs = set.map(([name, value]) => sql`, ${path(name)}, ${value === null ? sql`json('null')` : sql`${value}`}`)
  const merged = sql`json_set(coalesce(edited_tags, '{}')${sql.join(pairs)})`
  const kept = removed.length > 0 ? sql`json_remove(${merged}, ${sql.join(removed.map(path), sql`, `)})` : merged
  const edited: SQL = sql`nullif(${kept}, '{}')`
  const file: SQL = sql`iif(edited_tags is null, tags, file_tags)`
  return {
    tags: sql`iif(${edited} is null, ${file}, json_patch(coalesce(${file}, '{}'), ${edited}))`,
    edited_tags: sql`${edited}`,
    file_tags: sql`iif(${edited} is null, null, ${file})`,
  }
}

/** Returns the columns for the tags of a file that was processed. `edited` is what people have set; the statement must compare it. */
export function processedTagColumns(file: Tags, edited: EditedTags | null, folded: SQL) {
  const text = sql`${JSON.stringify(file)}`
  return {
    tags: sql`iif(edited_tags is null, ${text}, json_patch(${text}, edited_tags))`,
    file_tags: sql`iif(edited_tags is null, null, ${text})`,
    ...foldedUpdate('tracks', { tags: withEdits(file, edited) }, folded),
  }
}

import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

import type { PlayScope } from '../contract/play.ts'

/** Rows that were deleted and can come back, whole (docs/decisions/0054). */
export const trash = sqliteTable(
  'trash',
  {
    /** The row's own. */
    id: text().primaryKey(),
    organization_id: text().notNull(),
    scope: text().$type<PlayScope>().notNull(),
    title: text().notNull(),
    /** Of a track. */
    collection_id: text(),
    /** Of a track that has moved: the collection in whose folder its files lie. */
    folder_id: text(),
    seq: integer().notNull(),
    trashed_at: integer().notNull(),
    expires_at: integer().notNull(),
    /** The row: each column's value by its name. */
    content: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
  },
  (t) => [
    index('trash_list').on(t.organization_id, t.seq),
    index('trash_expiry').on(t.expires_at),
    index('trash_collection')
      .on(t.collection_id)
      .where(sql`collection_id is not null`),
    // Those whose tracks are hidden.
    index('trash_hidden')
      .on(t.organization_id)
      .where(sql`scope = 'collection'`),
    index('trash_folder')
      .on(t.folder_id)
      .where(sql`folder_id is not null`),
  ],
)

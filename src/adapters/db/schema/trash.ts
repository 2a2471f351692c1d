import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

import type { PlayScope } from '../../../contract/play.ts'

/** Deleted rows that can be restored completely (docs/decisions/0054). */
export const trash = sqliteTable(
  'trash',
  {
    /** The id of the deleted row. */
    id: text().primaryKey(),
    organization_id: text().notNull(),
    scope: text().$type<PlayScope>().notNull(),
    title: text().notNull(),
    /** The collection of a track; null for a collection or playlist. */
    collection_id: text(),
    /** The collection whose folder holds the files of a track that has moved; otherwise null. */
    folder_id: text(),
    seq: integer().notNull(),
    trashed_at: integer().notNull(),
    expires_at: integer().notNull(),
    /** The deleted row as values by column name. Bytes are in hexadecimal. */
    content: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
  },
  (t) => [
    index('trash_list').on(t.organization_id, t.seq),
    index('trash_expiry').on(t.expires_at),
    index('trash_collection')
      .on(t.collection_id)
      .where(sql`collection_id is not null`),
    // Finds the collections in the trash, whose tracks are hidden.
    index('trash_hidden')
      .on(t.organization_id)
      .where(sql`scope = 'collection'`),
    index('trash_folder')
      .on(t.folder_id)
      .where(sql`folder_id is not null`),
  ],
)

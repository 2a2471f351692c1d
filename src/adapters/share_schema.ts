import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

import type { PlayScope } from '../contract/play.ts'

/**
 * Permanent links. Triggers delete them with the resource they share (drizzle/0001_triggers.sql), and keep every slug that was ever in use in the
 * table `retired_slugs`.
 */
export const shares = sqliteTable(
  'shares',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    /** The slug in the share's URL, unique in the whole service. */
    slug: text().notNull(),
    /** Chosen by a user, so search engines may index the page. */
    is_custom_slug: integer({ mode: 'boolean' }).notNull(),
    scope: text().$type<PlayScope>().notNull(),
    resource_id: text().notNull(),
    title: text(),
    /** Null: the variants that every session plays. */
    variants: text({ mode: 'json' }).$type<string[]>(),
    is_downloadable: integer({ mode: 'boolean' }).notNull().default(false),
    /** Null allows all. */
    allowed_origins: text({ mode: 'json' }).$type<string[]>(),
    expires_at: integer(),
    /** In the format of src/adapters/password.ts; null for none. */
    password_hash: text(),
    seq: integer().notNull(),
    created_at: integer().notNull(),
  },
  (t) => [
    uniqueIndex('shares_slug').on(t.slug),
    index('shares_list').on(t.organization_id, t.seq),
    index('shares_resource').on(t.resource_id, t.seq),
  ],
)
export type ShareRow = typeof shares.$inferSelect

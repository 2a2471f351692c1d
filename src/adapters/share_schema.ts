import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

import type { PlayScope } from '../contract/play.ts'

/**
 * Links that last. What they share takes them along when it is deleted, by triggers (drizzle/0001_triggers.sql), which also keep
 * every slug that was given out in the table `retired_slugs`.
 */
export const shares = sqliteTable(
  'shares',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    /** The address, unique in the whole service. */
    slug: text().notNull(),
    /** Chosen by somebody, so that search engines may know it. */
    is_custom_slug: integer({ mode: 'boolean' }).notNull(),
    scope: text().$type<PlayScope>().notNull(),
    resource_id: text().notNull(),
    title: text(),
    /** Null: those that every session plays. */
    variants: text({ mode: 'json' }).$type<string[]>(),
    is_downloadable: integer({ mode: 'boolean' }).notNull().default(false),
    /** Null allows any. */
    allowed_origins: text({ mode: 'json' }).$type<string[]>(),
    expires_at: integer(),
    /** As src/adapters/password.ts writes it; null: none. */
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

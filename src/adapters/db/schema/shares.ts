import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

import type { PlayScope } from '../../../contract/play.ts'

/**
 * Public links. Triggers (drizzle/0001_triggers.sql) delete a share together with the collection, track or playlist that it shares, and keep
 * every slug that a share once had in the table `retired_slugs`.
 */
export const shares = sqliteTable(
  'shares',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    /** The last part of the URL, unique in the service. */
    slug: text().notNull(),
    /** Whether a caller chose the slug, which then may be indexed by search engines. */
    is_custom_slug: integer({ mode: 'boolean' }).notNull(),
    scope: text().$type<PlayScope>().notNull(),
    resource_id: text().notNull(),
    title: text(),
    /** Null selects the default variants of a session. */
    variants: text({ mode: 'json' }).$type<string[]>(),
    is_downloadable: integer({ mode: 'boolean' }).notNull().default(false),
    /** Null allows all. */
    allowed_origins: text({ mode: 'json' }).$type<string[]>(),
    expires_at: integer(),
    /** As src/adapters/crypto/password.ts writes it; null without a password. */
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

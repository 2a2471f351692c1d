import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

import type { Feed } from '../../../contract/feed.ts'
import type { PlayScope } from '../../../contract/play.ts'
import type { PageLink } from '../../../contract/share.ts'

/**
 * Public links. Triggers (src/adapters/db/triggers/shares.sql) delete a share together with the collection, track or playlist that it shares. They also keep
 * every slug that a share has ever had in the table `retired_slugs`.
 */
export const shares = sqliteTable(
  'shares',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    /** The last part of the URL, unique in the service. */
    slug: text().notNull(),
    /** Whether the slug was chosen in a request. Search engines may index only pages with a chosen slug. */
    is_custom_slug: integer({ mode: 'boolean' }).notNull(),
    scope: text().$type<PlayScope>().notNull(),
    resource_id: text().notNull(),
    title: text(),
    /** The text and the links on the page, or null. */
    text: text(),
    links: text({ mode: 'json' }).$type<PageLink[]>(),
    /** Null selects the variants that a session has by default. */
    variants: text({ mode: 'json' }).$type<string[]>(),
    is_downloadable: integer({ mode: 'boolean' }).notNull().default(false),
    /** Null allows all origins. */
    allowed_origins: text({ mode: 'json' }).$type<string[]>(),
    expires_at: integer(),
    /** A hash in the format of src/adapters/crypto/password.ts; null if the share has no password. */
    password_hash: text(),
    /** The number of play sessions by day (UTC), of the last days that have any; null if there were none. A trigger counts them (src/adapters/db/triggers/usage.ts). */
    session_days: text({ mode: 'json' }).$type<Record<string, number>>(),
    /** The podcast feed; null if the share has none. */
    feed: text({ mode: 'json' }).$type<Feed>(),
    seq: integer().notNull(),
    created_at: integer().notNull(),
  },
  (t) => [
    uniqueIndex('shares_slug').on(t.slug),
    index('shares_list').on(t.organization_id, t.seq),
    index('shares_resource').on(t.resource_id, t.seq),
  ],
)

/** Slugs that a share once had. A slug is never given to another share, so an old link cannot lead to something else. */
export const retiredSlugs = sqliteTable('retired_slugs', { slug: text().primaryKey(), share_id: text().notNull() })

/** The columns of a share that its page and its key need. */
export type ShareRow = Omit<typeof shares.$inferSelect, 'session_days'>

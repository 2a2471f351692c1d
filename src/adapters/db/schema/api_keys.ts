import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

import type { KeyType } from '../../../contract/api_key.ts'
import type { Effect } from '../../../contract/effect.ts'
import { created_at, flag, json, quotaColumns } from '../column_types.ts'

/** API keys. Times are in milliseconds since 1970. */
export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    type: text().$type<KeyType>().notNull(),
    title: text().notNull(),
    /** SHA-256 of the secret, in hex. */
    hash: text().notNull(),
    /** The hash of the secret before the last rotation, during its grace period. */
    previous_hash: text(),
    previous_expires_at: integer(),
    /** The first characters of the secret, by which users recognize the key. */
    hint: text().notNull(),
    collection_id: text(),
    track_id: text(),
    playlist_id: text(),
    /** Null allows all variants. A null in `allowed_origins` allows all origins. */
    variants: json<string[]>(),
    allowed_origins: json<string[]>(),
    is_downloadable: flag().notNull().default(false),
    /** The rights of a server key; null for all. */
    may: json<Effect[]>(),
    expires_at: integer(),
    last_used_at: integer(),
    ...quotaColumns(),
    max_tracks: integer(),
    seq: integer().notNull(),
    created_at: created_at(),
  },
  (t) => [
    uniqueIndex('api_keys_hash').on(t.hash),
    index('api_keys_previous')
      .on(t.previous_hash)
      .where(sql`previous_hash is not null`),
    index('api_keys_list').on(t.organization_id, t.seq),
  ],
)

import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** The tables of the service's own bookkeeping; those of the API's nouns, and what holds for both, are in schema.ts. */

const json = <T>() => text({ mode: 'json' }).$type<T>()

/**
 * How many rows a list has, kept by triggers (drizzle/0001_list_counts.sql), so that neither `count` nor a deep `offset` scans.
 * `list` is like `tracks:{collection}` or, of a filter, `tracks:{collection}?status=ready`. Level 0 is the total; levels 1 and 2
 * count by ranges of 256 and 16,384 of the list's ordering number (`order` or `seq`).
 */
export const listCounts = sqliteTable(
  'list_counts',
  { list: text().notNull(), level: integer().notNull(), bucket: integer().notNull(), count: integer().notNull() },
  (t) => [primaryKey({ columns: [t.list, t.level, t.bucket] })],
)

export type CoverOwner = 'collection' | 'track' | 'playlist'

/** What one background job is about; the payload of its row. */
export type JobPayload =
  | { kind: 'transcode'; track_id: string; source_path: string; source_size: number }
  | { kind: 'cover'; owner: CoverOwner; owner_id: string; source_path: string; source_size: number; cover_path: string }
  | { kind: 'purge'; prefixes: string[]; paths?: string[]; organization_id?: string; collection_id?: string }

/**
 * Background work. The row is the truth, a queue message only a nudge: from `lease_until` on anybody may take the job (again), and
 * at `nudge_at` the sweep sends another message for it.
 */
export const jobs = sqliteTable(
  'jobs',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    payload: json<JobPayload>().notNull(),
    state: text().$type<'open' | 'done' | 'failed'>().notNull().default('open'),
    /** How often a worker took it and then vanished or failed. */
    attempt: integer().notNull().default(0),
    pass: text().$type<'strict' | 'tolerant'>().notNull().default('strict'),
    lease_until: integer().notNull(),
    nudge_at: integer().notNull(),
    created_at: integer().notNull(),
    error: json<Record<string, unknown>>(),
  },
  (t) => [
    index('jobs_open')
      .on(t.nudge_at)
      .where(sql`state = 'open'`),
    index('jobs_age').on(t.created_at),
  ],
)

/** Answers of POST requests that carried an `Idempotency-Key`, for 24 hours. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    /** SHA-256 of the caller's key id and the `Idempotency-Key`. */
    id: text().primaryKey(),
    /** SHA-256 of path and body. */
    request_hash: text().notNull(),
    /** The answer, encrypted because it may hold a secret that is shown only once; null while the request runs. */
    answer: text(),
    created_at: integer().notNull(),
  },
  (t) => [index('idempotency_keys_age').on(t.created_at)],
)

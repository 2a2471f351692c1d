import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

import type { CoverOwner } from '../contract/cover.ts'
import type { variants } from './schema.ts'
import type { Kind } from './search.ts'

/** The tables of the service's own bookkeeping; those of the API's nouns, and what holds for both, are in schema.ts. */

const json = <T>() => text({ mode: 'json' }).$type<T>()

/**
 * What the search (search.ts) does not know yet: rows of a table up to `cursor`, by rowid. A row `table` says that it was taken away, and
 * when it is to be made again.
 */
export const searchFills = sqliteTable('search_fills', {
  kind: text().$type<Kind | 'table'>().primaryKey(),
  cursor: integer().notNull(),
})

/** What a job keeps of an organization's variant: all that the files depend on. */
export type OwnVariant = Pick<
  typeof variants.$inferSelect,
  'id' | 'index' | 'name' | 'type' | 'codec' | 'bitrate' | 'channels' | 'start' | 'length'
>

/** An upload handle, kept until its URLs have expired. */
export interface UploadPlace {
  track_id: string
  /** Milliseconds since 1970. */
  expires_at: number
  /** The track's names once this file is its own; null: unchanged. */
  file_name: string | null
  file_name_original: string | null
  /** The track's name when a handle without a name was handed out: only for `info.replaced_uploads`. */
  listed_name?: string
  /** The `file_name` as the search compares it, when it differs (fold.ts). */
  folded_name: string | null
  /** Listed in `info.replaced_uploads` already. */
  is_replaced?: 1
}

/** What one background job is about; the payload of its row. */
export type JobPayload =
  | {
      kind: 'transcode'
      track_id: string
      source_path: string
      source_size: number
      /** The organization's own variants as they were when the job first ran: it goes on with them, whatever happens to them. */
      own?: OwnVariant[]
      /** The collection's reprocess that this one is part of. */
      reprocess_id?: string
    }
  | { kind: 'cover'; owner: CoverOwner; owner_id: string; source_path: string; source_size: number; cover_path: string }
  | {
      kind: 'purge'
      prefixes: string[]
      paths?: string[]
      organization_id?: string
      collection_id?: string
      /** The collection whose folder the prefixes are: the files of tracks that have moved away stay. */
      folder_id?: string
      variant?: { id: string; index: string }
      /** Set when the only path belongs to an upload handle: its object is deleted unless the track uses it (pipeline/upload.ts). */
      upload?: UploadPlace
      /** Who has deleted the collection, for the events of its tracks. */
      actor?: string | null
    }
  | { kind: 'reprocess'; collection_id: string }

/**
 * Background work. The row is the truth, a queue message only a nudge: from `lease_until` on anybody may take the job (again), and
 * at `wake_at` the sweep sends another message for it.
 */
export const jobs = sqliteTable(
  'jobs',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    payload: json<JobPayload>().notNull(),
    state: text().$type<'open' | 'done' | 'failed'>().notNull().default('open'),
    /** How often it was begun, without the times that were not its own fault. */
    attempt: integer().notNull().default(0),
    /** Whoever claimed it last, by a name of its own for each claim; null: nobody since it was given back. */
    holder: text(),
    pass: text().$type<'strict' | 'tolerant'>().notNull().default('strict'),
    lease_until: integer().notNull(),
    wake_at: integer().notNull(),
    created_at: integer().notNull(),
    error: json<Record<string, unknown>>(),
    /** A transcode's rank in the queue, in milliseconds since 1970 or later (docs/decisions/0033); null for other kinds. */
    rank: integer(),
    /** Of a transcode: 0 for the smallest sources. */
    size_class: integer().notNull().default(0),
    /** The place where a transcode runs, until nothing of it runs there any more. */
    slot: integer(),
    /** How often in a row a transcode could not be begun. */
    tries: integer().notNull().default(0),
    /** Part of a collection's reprocess: only few of these are open at a time. */
    is_background: integer({ mode: 'boolean' }).notNull().default(false),
  },
  (t) => [
    index('jobs_open')
      .on(t.wake_at)
      .where(sql`state = 'open'`),
    index('jobs_queue')
      .on(t.size_class, t.rank)
      .where(sql`state = 'open' and rank is not null and slot is null`),
    index('jobs_organization')
      .on(t.organization_id, t.rank)
      .where(sql`state = 'open' and rank is not null and is_background = 0`),
    index('jobs_slot')
      .on(t.slot)
      .where(sql`slot is not null`),
    index('jobs_age').on(t.created_at),
    index('jobs_background')
      .on(t.id)
      .where(sql`state = 'open' and is_background = 1`),
    index('jobs_failed')
      .on(t.created_at)
      .where(sql`state = 'failed'`),
  ],
)

/** The last reprocess of a collection: where its walk stands and what came of it so far. */
export const reprocesses = sqliteTable('reprocesses', {
  collection_id: text().primaryKey(),
  organization_id: text().notNull(),
  /** The job that walks; a row of another job's is none of an older one's business. */
  job_id: text().notNull(),
  state: text().$type<'running' | 'done'>().notNull(),
  all: integer({ mode: 'boolean' }).notNull(),
  /** The settings of the variants that tracks are brought up to date with. */
  wanted: json<string[]>().notNull(),
  /** The last track that was looked at, by id. */
  cursor: text().notNull(),
  /** Tracks that are being processed, by id. */
  waiting: json<string[]>().notNull(),
  total: integer().notNull(),
  done: integer().notNull(),
  failed: integer().notNull(),
  started_at: integer().notNull(),
  finished_at: integer(),
})

/** Uploads in parts, one of a track, until a day after their beginning. */
export const multipartUploads = sqliteTable(
  'multipart_uploads',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    track_id: text().notNull(),
    /** Where the file comes to lie, and R2's own id of the upload. */
    path: text().notNull(),
    upload_id: text().notNull(),
    file_size: integer().notNull(),
    part_size: integer().notNull(),
    part_count: integer().notNull(),
    fingerprint: text(),
    /** The ETags of the parts that are in storage, by their numbers. */
    parts: json<Record<string, string>>().notNull(),
    state: text().$type<'open' | 'complete'>().notNull(),
    expires_at: integer().notNull(),
    created_at: integer().notNull(),
  },
  (t) => [uniqueIndex('multipart_uploads_track').on(t.track_id), index('multipart_uploads_end').on(t.expires_at)],
)
export type MultipartRow = typeof multipartUploads.$inferSelect

/** Answers of POST requests that carried an `Idempotency-Key`, for 24 hours. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    /** SHA-256 of the caller's key id and the `Idempotency-Key`. */
    id: text().primaryKey(),
    /** SHA-256 of path and body. */
    request_hash: text().notNull(),
    /** The response, encrypted because it may hold a secret that is shown only once; null while the request runs. */
    response: text(),
    created_at: integer().notNull(),
  },
  (t) => [index('idempotency_keys_age').on(t.created_at)],
)

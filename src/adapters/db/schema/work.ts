import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

import type { CoverOwner } from '../../../contract/cover.ts'
import type { Kind } from '../search.ts'
import type { variants } from './library.ts'

/** The tables of the service's own bookkeeping. Those of the API's nouns, and the rules for both, are in schema.ts. */

const json = <T>() => text({ mode: 'json' }).$type<T>()

/**
 * The rows that the search (search.ts) does not contain yet: those of a table up to the rowid `cursor`. A row `table` means that the search was
 * dropped; `cursor` is then the time at which the sweep recreates it.
 */
export const searchFills = sqliteTable('search_fills', {
  kind: text().$type<Kind | 'table'>().primaryKey(),
  cursor: integer().notNull(),
})

/** An organization's variant in a job: everything that its files depend on. */
export type StoredVariant = Pick<
  typeof variants.$inferSelect,
  'id' | 'index' | 'name' | 'type' | 'codec' | 'bitrate' | 'channels' | 'start' | 'length'
>

/** An upload handle, stored until its URLs have expired. */
export interface StoredHandle {
  track_id: string
  /** Milliseconds since 1970. */
  expires_at: number
  /** The track's names after it has accepted this file; null leaves them unchanged. */
  file_name: string | null
  file_name_original: string | null
  /** The track's name when a handle without a name was created; only for `info.replaced_uploads`. */
  listed_name?: string
  /** The folded `file_name` for the search, if it differs (fold.ts). */
  folded_name: string | null
  /** Set once the file is listed in `info.replaced_uploads`. */
  is_replaced?: 1
}

/** The payload of a background job. */
export type JobPayload =
  | {
      kind: 'transcode'
      track_id: string
      source_path: string
      source_size: number
      /** The organization's variants when the job first ran. Later changes of them do not affect the job. */
      custom_variants?: StoredVariant[]
      /** The collection's reprocess that started the job. */
      reprocess_id?: string
    }
  | { kind: 'cover'; owner: CoverOwner; owner_id: string; source_path: string; source_size: number; cover_path: string }
  | {
      kind: 'purge'
      prefixes: string[]
      paths?: string[]
      organization_id?: string
      collection_id?: string
      /** The collection whose folder is purged: files of tracks that moved out of it are kept. */
      folder_id?: string
      variant?: { id: string; index: string }
      /** Set if the only path is that of an upload handle. Its object is deleted unless the track uses it (pipeline/upload.ts). */
      upload?: StoredHandle
      /** The actor that deleted the collection, for the events of its tracks. */
      actor?: string | null
    }
  | { kind: 'reprocess'; collection_id: string }

/**
 * Background jobs. The row is authoritative; a queue message only wakes the consumer. After `lease_until` any worker may claim the job, and at
 * `wake_at` the sweep sends another message for it.
 */
export const jobs = sqliteTable(
  'jobs',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    payload: json<JobPayload>().notNull(),
    state: text().$type<'open' | 'done' | 'failed'>().notNull().default('open'),
    /** How often it was started, without the failures that it did not cause. */
    attempt: integer().notNull().default(0),
    /** The id of the last claim, unique for each; null after the job was requeued. */
    holder: text(),
    pass: text().$type<'strict' | 'tolerant'>().notNull().default('strict'),
    lease_until: integer().notNull(),
    wake_at: integer().notNull(),
    created_at: integer().notNull(),
    error: json<Record<string, unknown>>(),
    /** A transcode's rank in the queue, in milliseconds since 1970 or later (docs/decisions/0033); null for other kinds. */
    rank: integer(),
    /** A transcode's size class, 0 for the smallest sources. */
    size_class: integer().notNull().default(0),
    /** The slot in which a transcode runs, until the transcoder has stopped it. */
    slot: integer(),
    /** How often in a row a transcode was interrupted or could not be handed to a transcoder. */
    tries: integer().notNull().default(0),
    /** Part of a collection's reprocess, of which only a few are open at a time. */
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

/** The last reprocess of a collection: its position and its results so far. */
export const reprocesses = sqliteTable('reprocesses', {
  collection_id: text().primaryKey(),
  organization_id: text().notNull(),
  /** The job that walks through the tracks. A job ignores rows written by a newer job. */
  job_id: text().notNull(),
  state: text().$type<'running' | 'done'>().notNull(),
  all: integer({ mode: 'boolean' }).notNull(),
  /** The variants that tracks are brought up to date with, as `settingsOf` hashes. */
  wanted: json<string[]>().notNull(),
  /** The id of the last track that was checked. */
  cursor: text().notNull(),
  /** The ids of tracks that are being processed. */
  waiting: json<string[]>().notNull(),
  total: integer().notNull(),
  done: integer().notNull(),
  failed: integer().notNull(),
  started_at: integer().notNull(),
  finished_at: integer(),
})

/** Multipart uploads, at most one per track, until a day after they started. */
export const multipartUploads = sqliteTable(
  'multipart_uploads',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    track_id: text().notNull(),
    /** The path of the finished file, and R2's id of the upload. */
    path: text().notNull(),
    upload_id: text().notNull(),
    file_size: integer().notNull(),
    part_size: integer().notNull(),
    part_count: integer().notNull(),
    fingerprint: text(),
    /** The ETags of the stored parts, by part number. */
    parts: json<Record<string, string>>().notNull(),
    state: text().$type<'open' | 'complete'>().notNull(),
    expires_at: integer().notNull(),
    created_at: integer().notNull(),
  },
  (t) => [uniqueIndex('multipart_uploads_track').on(t.track_id), index('multipart_uploads_end').on(t.expires_at)],
)
export type MultipartRow = typeof multipartUploads.$inferSelect

/** Responses to POST requests with an `Idempotency-Key`, for 24 hours. */
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

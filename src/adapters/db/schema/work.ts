import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

import type { CoverOwner } from '../../../contract/cover.ts'
import type { Kind } from '../search.ts'
import type { variants } from './library.ts'

/** The tables that the service needs internally. The tables of the API's resources, and the rules for all tables, are in library.ts. */

const json = <T>() => text({ mode: 'json' }).$type<T>()

/**
 * The rows that are not in the search table yet (search.ts): those of a table whose rowid is at most `cursor`. A row of the kind `table` means that
 * the search table was dropped; its `cursor` is the time when the sweep recreates it.
 */
export const searchFills = sqliteTable('search_fills', {
  kind: text().$type<Kind | 'table'>().primaryKey(),
  cursor: integer().notNull(),
})

/** A variant that an organization has defined, as stored in a job: all settings that affect its files. */
export type StoredVariant = Pick<
  typeof variants.$inferSelect,
  'id' | 'index' | 'name' | 'type' | 'codec' | 'bitrate' | 'channels' | 'start' | 'length'
>

/** A multipart upload for the file of a variant that may be large. */
export interface OutputUpload {
  index: string
  path: string
  /** R2's id of the upload. */
  upload_id: string
  /** Bytes of each part, except the last one. */
  part_size: number
  part_count: number
}

/** The payload of a background job. */
export type JobPayload =
  | {
      kind: 'transcode'
      track_id: string
      source_path: string
      source_size: number
      /** The decoded length in seconds, if a transcoder reported it when it handed the job back (`HandBack`). */
      seconds?: number
      /** The organization's variants when the job first ran. Later changes to them do not affect the job. */
      custom_variants?: StoredVariant[]
      /** The multipart uploads for its large files, which every attempt uses. */
      uploads?: OutputUpload[]
      /** The collection's reprocess that started the job. */
      reprocess_id?: string
    }
  | {
      kind: 'import'
      track_id: string
      /** The path at which the file is stored: that of the track's first upload handle. */
      path: string
      /** Maximum bytes of the file. */
      max_size: number
      /** The multipart upload of the file, which every attempt uses. */
      uploads?: OutputUpload[]
    }
  | { kind: 'cover'; owner: CoverOwner; owner_id: string; source_path: string; source_size: number; cover_path: string }
  | {
      kind: 'purge'
      prefixes: string[]
      paths?: string[]
      organization_id?: string
      collection_id?: string
      /** The collection whose folder is deleted. The files of tracks that were moved to another collection are kept. */
      folder_id?: string
      /** The deleted variant. `after`: the `created_at` and the rowid of the last track from which its files were removed. */
      variant?: { id: string; index: string; after?: [created_at: number, rowid: number] }
      /** The actor that deleted the collection. It is the actor in the events of the collection's tracks. */
      actor?: string | null
    }
  | { kind: 'reprocess'; collection_id: string }

/**
 * Background jobs. The row is authoritative; a queue message only starts the consumer. After `lease_until`, any worker may claim the job. At
 * `wake_at`, the sweep sends another message for it.
 */
export const jobs = sqliteTable(
  'jobs',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    payload: json<JobPayload>().notNull(),
    state: text().$type<'open' | 'done' | 'failed'>().notNull().default('open'),
    /** The number of times the job was started, without the attempts that failed for reasons outside the job. */
    attempt: integer().notNull().default(0),
    /** The id of the last claim, which is unique for each claim; null after the job was queued again. */
    holder: text(),
    pass: text().$type<'strict' | 'tolerant'>().notNull().default('strict'),
    lease_until: integer().notNull(),
    wake_at: integer().notNull(),
    created_at: integer().notNull(),
    error: json<Record<string, unknown>>(),
    /**
     * The position of a transcode in the queue: a time in milliseconds since 1970, which can be in the future (docs/decisions/0033). Null for other
     * kinds of jobs.
     */
    rank: integer(),
    /** The size class of a transcode. 0 is the class of the smallest sources. It grows when the transcoder hands the job back. */
    size_class: integer().notNull().default(0),
    /** The slot in which a transcode runs. It is set until the transcoder has stopped the job. */
    slot: integer(),
    /** How many times in succession a transcode was interrupted or could not be sent to a transcoder. */
    tries: integer().notNull().default(0),
    /** Whether the job is part of a collection's reprocess. Only a few of these jobs are open at a time. */
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

/** The last reprocess of each collection: its position, and its results so far. */
export const reprocesses = sqliteTable('reprocesses', {
  collection_id: text().primaryKey(),
  organization_id: text().notNull(),
  /** The job that processes the tracks one after another. A job ignores rows that were written by a newer job. */
  job_id: text().notNull(),
  state: text().$type<'running' | 'done'>().notNull(),
  all: integer({ mode: 'boolean' }).notNull(),
  /** The hashes (`settingsOf`) of the variants that each track should have after the reprocess. */
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

/** Multipart uploads, at most one per track. A row is kept for a day after its upload has started. */
export const multipartUploads = sqliteTable(
  'multipart_uploads',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    track_id: text().notNull(),
    /** The path of the finished file, and R2's id for the upload. */
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

/** Responses to POST requests with an `Idempotency-Key`. They are kept for 24 hours. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    /** SHA-256 of the id of the caller's API key and the `Idempotency-Key`. */
    id: text().primaryKey(),
    /** SHA-256 of the path and the body of the request. */
    request_hash: text().notNull(),
    /** The response, encrypted because it may contain a secret that is shown only once; null while the request is being processed. */
    response: text(),
    /** A random text. The ids and secrets that the request creates are derived from it, so all attempts of the request create the same. */
    seed: text().notNull().default(''),
    /** The attempt that is running, a random text; empty after an attempt that may have taken effect. */
    holder: text().notNull().default(''),
    created_at: integer().notNull(),
  },
  (t) => [index('idempotency_keys_age').on(t.created_at)],
)

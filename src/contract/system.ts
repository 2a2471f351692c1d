import * as z from 'zod'

import { named, ok, Timestamp } from './common.ts'
import { defineOperations } from './operation.ts'
import { SERVICE_ERRORS } from './track_errors.ts'

// `/health` lists the same parts except `listening`, without which the service still plays.
/**
 * `database_full`: requests that add rows are rejected.
 * `configuration`: the Worker lacks a setting, or ROOT_KEY is short. `migrations`: the database lacks a migration. `media`: the domain of the files serves them without a token.
 * `restore`: a restore has not finished. `listening`: folds of listening reports are overdue.
 */
export const SystemPart = z.enum([
  'configuration',
  'migrations',
  'database',
  'database_full',
  'restore',
  'sweep',
  'transcoder',
  'media',
  'listening',
])
export type SystemPart = z.infer<typeof SystemPart>

/** The state of the service. Open jobs are all counted; ended jobs and failures are counted only if the job started in the last 24 hours. */
export const System = named('System', {
  /** Parts of the service that do not work (docs/operate.md). */
  failing: z.array(SystemPart),
  /** Settings that the Worker lacks, with the length of ROOT_KEY if it is short, and the migration that the database lacks. */
  missing: z.array(z.string()),
  /** The D1 database. */
  database: z.object({
    /** Whether it responded in time. */
    answers: z.boolean(),
    /** The response time of the database in milliseconds, as measured by the Worker. */
    milliseconds: z.int().nullable(),
    /** The size of the database without free pages; null if the database does not respond. */
    bytes: z.int().nullable(),
    /** Bytes that it may have: DATABASE_LIMIT_BYTES. */
    limit: z.int(),
    /** `bytes` divided by `limit`. From 0.8 on, make room; from 0.95 on, requests that add rows are rejected. */
    fraction: z.number().nullable(),
    /** The part of `bytes` that the metadata of tracks takes, estimated from 200 tracks; null if the database does not respond. */
    metadata_fraction: z.number().nullable(),
  }),
  /** The service that makes the variants. */
  transcoder: z.object({
    /** Whether one responded. */
    answers: z.boolean(),
    /** Maximum number of jobs at the same time. */
    slots: z.int(),
    /** Number of jobs that run now. */
    busy: z.int(),
  }),
  /** Work in the background, by kind and state. */
  jobs: z.array(
    z.object({
      /** The task of the job, such as `transcode` or `purge`. */
      kind: z.string(),
      /** `open` until it is done or has finally failed. */
      state: z.enum(['open', 'done', 'failed']),
      /** Number of such jobs. */
      count: z.int(),
      /** Age of the oldest open one in seconds; null for other states. */
      oldest_age: z.int().nullable(),
    }),
  ),
  /** Why tracks failed, the most frequent reason first. */
  failures: z.array(
    z.object({
      /** One of the codes in docs/errors.md#failed-tracks. */
      code: z.string(),
      /** Number of failures. */
      count: z.int(),
      /** Number of tracks that `POST /v1/system/retry` would process again. */
      retryable: z.int(),
    }),
  ),
  /** When the cron job last ran. It runs every minute. */
  last_sweep_at: Timestamp.nullable(),
  /** The last run of the cron job; null before the first one. */
  last_sweep: z
    .object({
      /** Number of D1 queries. */
      queries: z.int(),
      /** Phases that were left to the next runs, because the queries were used up. */
      left: z.array(z.string()),
      /** Phases that ended with an error. */
      failed: z.array(z.string()),
    })
    .nullable(),
  /** Where listeners get files (docs/media.md). */
  media: z.object({
    /** `r2` for presigned URLs, `zone` for a domain of the bucket (MEDIA_DELIVERY). */
    delivery: z.enum(['r2', 'zone']),
    /** When a file was last requested from the domain without a token, which happens once a day; null before. */
    checked_at: Timestamp.nullable(),
    /** Whether that request got the file, so that the domain is open to everyone. */
    is_open: z.boolean(),
  }),
  /** The Durable Objects that store listening. */
  listening: z.object({
    /** Number of objects whose fold was more than two hours overdue at the end of the last sweep. */
    overdue_folds: z.int(),
    /** The object with the most bytes at its last fold; null before the first one. */
    largest: z
      .object({
        /** The owner of its data. */
        organization_id: z.uuid(),
        /** Its number among those of the organization, from 0. */
        shard: z.int(),
        /** Its size. */
        bytes: z.int(),
        /** Bytes that Cloudflare allows. */
        limit: z.int(),
        /** `bytes` divided by `limit`. From 0.7 on, make room. */
        fraction: z.number(),
      })
      .nullable(),
  }),
  /** When R2 last reported an upload, accurate to a minute. Local installations do not receive these events. */
  last_event_at: Timestamp.nullable(),
})
export type System = z.infer<typeof System>

/** Codes of errors that the file does not cause, so that a retry may succeed. */
export const TRANSIENT_ERRORS = [...Object.keys(SERVICE_ERRORS), 'transcoder_unavailable'] as TransientErrorCode[]
export type TransientErrorCode = keyof typeof SERVICE_ERRORS | 'transcoder_unavailable'

const tag = 'System'

export const systemOperations = defineOperations({
  getSystem: {
    method: 'get',
    path: '/v1/system',
    summary: 'Get how the service is: database, transcoder, jobs and failures of all organizations',
    tag,
    access: ['root'],
    effect: 'read',
    guide: 'operate',
    response: ok({
      system: System,
    }),
  },
  retryFailedTracks: {
    method: 'post',
    path: '/v1/system/retry',
    grows: false,
    summary:
      'Process tracks again that failed for a passing reason, at most 100; by default those of the last 24 hours',
    tag,
    access: ['root'],
    effect: 'write',
    guide: 'operate',
    recordsNoEvent: 'the outcome has its event',
    body: z.strictObject({
      /** Only tracks that failed with this code are processed again. */
      code: z.enum(TRANSIENT_ERRORS).optional(),
      /** Only jobs that were started after this time are retried. Jobs are kept for a week. */
      since: Timestamp.optional(),
    }),
    response: ok({
      /** Number of tracks that are processed again. */
      started: z.int(),
      /** Number of tracks that another request can start. */
      left: z.int(),
    }),
  },
})

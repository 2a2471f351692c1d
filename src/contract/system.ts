import * as z from 'zod'

import { named, ok, Timestamp } from './common.ts'
import { defineOperations } from './operation.ts'
import { SERVICE_ERRORS } from './track_errors.ts'

/**
 * The parts that `/v1/system` lists if they fail. `/health` lists the same ones except `listening`, without which the service still plays.
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
  failing: z.array(SystemPart),
  /** The names of the settings that the Worker lacks, with the length of ROOT_KEY if it is short, and of the migration that the database lacks. */
  missing: z.array(z.string()),
  database: z.object({
    answers: z.boolean(),
    /** The response time of the database in milliseconds, as measured by the Worker. */
    milliseconds: z.int().nullable(),
    /** The size of the database without free pages; null if the database does not respond. */
    bytes: z.int().nullable(),
    /** DATABASE_LIMIT_BYTES. */
    limit: z.int(),
    /** `bytes` divided by `limit`. From 0.8 on, make room; from 0.95 on, requests that add rows are rejected. */
    fraction: z.number().nullable(),
  }),
  /** The maximum number of jobs that can run at the same time, and the number that are running now. */
  transcoder: z.object({ answers: z.boolean(), slots: z.int(), busy: z.int() }),
  jobs: z.array(
    z.object({
      kind: z.string(),
      state: z.enum(['open', 'done', 'failed']),
      count: z.int(),
      /** Age of the oldest open job in seconds; null for other states. */
      oldest_age: z.int().nullable(),
    }),
  ),
  /** The failures by code, the most frequent code first. `retryable` is the number of tracks that `retry` would process again. */
  failures: z.array(z.object({ code: z.string(), count: z.int(), retryable: z.int() })),
  /** When the cron job last ran. It runs every minute. */
  last_sweep_at: Timestamp.nullable(),
  /**
   * The D1 queries of the last sweep, the phases that it had to leave to the next sweeps, and the phases that failed; null before the first sweep.
   */
  last_sweep: z.object({ queries: z.int(), left: z.array(z.string()), failed: z.array(z.string()) }).nullable(),
  /**
   * Where listeners get files (MEDIA_DELIVERY), when the service last requested one from the bucket's domain without a token, and whether that was
   * served. It is requested once a day; null before the first time.
   */
  media: z.object({ delivery: z.enum(['r2', 'zone']), checked_at: Timestamp.nullable(), is_open: z.boolean() }),
  /**
   * The number of `Listening` objects whose fold was more than two hours overdue at the end of the last sweep; the size of the largest object, as it was at
   * its last fold; and `bytes` divided by the limit of Cloudflare, `limit`. From 0.7 on, make room.
   */
  listening: z.object({
    overdue_folds: z.int(),
    largest: z
      .object({ organization_id: z.uuid(), shard: z.int(), bytes: z.int(), limit: z.int(), fraction: z.number() })
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
    response: ok({ system: System }),
  },
  retryFailedTracks: {
    method: 'post',
    path: '/v1/system/retry',
    grows: false,
    summary:
      'Process tracks again that failed for a passing reason, at most 100; by default those of the last 24 hours',
    tag,
    access: ['root'],
    body: z.strictObject({
      /** Only tracks that failed with this code are processed again. */
      code: z.enum(TRANSIENT_ERRORS).optional(),
      /** Only jobs that were started after this time are retried. Jobs are kept for a week. */
      since: Timestamp.optional(),
    }),
    response: ok({ started: z.int(), left: z.int() }),
  },
})

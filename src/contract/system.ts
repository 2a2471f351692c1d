import * as z from 'zod'

import { named, ok, Timestamp } from './common.ts'
import { SERVICE_ERRORS } from './errors.ts'
import { defineOperations } from './operation.ts'

/** The essential parts of the service. `/health` also lists those that fail. */
export const SystemPart = z.enum(['database', 'sweep', 'transcoder'])
export type SystemPart = z.infer<typeof SystemPart>

/** The state of the service. Ended jobs and failures are counted among jobs that started within a day. */
export const System = named('System', {
  failing: z.array(SystemPart),
  database: z.object({
    answers: z.boolean(),
    /** Response time, as measured in the Worker. */
    milliseconds: z.int().nullable(),
  }),
  /** The most jobs that can run at once, and those that run now. */
  transcoder: z.object({ answers: z.boolean(), slots: z.int(), busy: z.int() }),
  jobs: z.array(
    z.object({
      kind: z.string(),
      state: z.enum(['open', 'done', 'failed']),
      count: z.int(),
      /** Age in seconds of the oldest open job; null for other states. */
      oldest_age: z.int().nullable(),
    }),
  ),
  /** By code, the most frequent first, with the number of tracks that `retry` would process again. */
  failures: z.array(z.object({ code: z.string(), count: z.int(), retryable: z.int() })),
  /** From the cron job, which runs every minute. */
  last_sweep_at: Timestamp.nullable(),
  /** Accurate to a minute. R2 sends an event for each upload; a local installation does not. */
  last_event_at: Timestamp.nullable(),
})
export type System = z.infer<typeof System>

/** Error codes that are not the file's fault: a retry may succeed. */
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
    summary:
      'Process tracks again that failed for a passing reason, at most 100; by default those of the last 24 hours',
    tag,
    access: ['root'],
    body: z.strictObject({
      /** Retries only tracks that failed with this code. */
      code: z.enum(TRANSIENT_ERRORS).optional(),
      /** Retries only jobs started since then. Jobs are kept for a week. */
      since: Timestamp.optional(),
    }),
    response: ok({ started: z.int(), left: z.int() }),
  },
})

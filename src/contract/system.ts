import * as z from 'zod'

import { named, ok, Timestamp } from './common.ts'
import { SERVICE_ERRORS } from './errors.ts'
import { defineOperations } from './operation.ts'

/** What the service cannot do without; those that fail are also in the answer of `/health`. */
export const SystemPart = z.enum(['database', 'sweep', 'transcoder'])
export type SystemPart = z.infer<typeof SystemPart>

/** How the whole service is. Jobs that ended and failures are those of jobs that were begun within a day. */
export const System = named('System', {
  failing: z.array(SystemPart),
  database: z.object({
    answers: z.boolean(),
    /** That it took to answer, as the Worker sees it. */
    milliseconds: z.int().nullable(),
  }),
  /** Jobs that run at once at most, and those that do now. */
  transcoder: z.object({ answers: z.boolean(), slots: z.int(), busy: z.int() }),
  jobs: z.array(
    z.object({
      kind: z.string(),
      state: z.enum(['open', 'done', 'failed']),
      count: z.int(),
      /** Seconds since the oldest one was begun; of open ones. */
      oldest_age: z.int().nullable(),
    }),
  ),
  /** By code, the most frequent first, with how many tracks `retry` would process again. */
  failures: z.array(z.object({ code: z.string(), count: z.int(), retryable: z.int() })),
  /** Of the cron, which runs every minute. */
  last_sweep_at: Timestamp.nullable(),
  /** To the minute. R2 tells when an upload has arrived; on a laptop it does not. */
  last_event_at: Timestamp.nullable(),
})
export type System = z.infer<typeof System>

/** Reasons that have nothing to do with the file: processed again, the track may become ready. */
export const PASSING = [...Object.keys(SERVICE_ERRORS), 'transcoder_unavailable'] as PassingCode[]
export type PassingCode = keyof typeof SERVICE_ERRORS | 'transcoder_unavailable'

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
      /** Only those that failed for this reason. */
      code: z.enum(PASSING).optional(),
      /** Only jobs that were begun since; none is known for longer than a week. */
      since: Timestamp.optional(),
    }),
    response: ok({ started: z.int(), left: z.int() }),
  },
})

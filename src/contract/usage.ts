import * as z from 'zod'

import { named, ok } from './common.ts'
import { defineOperations } from './operation.ts'
import { Quota } from './quota.ts'

/** The storage of an organization, and its activity on each day in UTC (docs/operate.md#usage). */
export const Usage = named('Usage', {
  /** The number of tracks that were processed. */
  tracks: z.int(),
  /** The total duration of all tracks in seconds. */
  duration: z.number(),
  /** The size in bytes of all files, and of the uploaded files alone. */
  bytes: z.object({ total: z.int(), original: z.int() }),
  /** The size of all other files by the `index` of their variant, the largest first. */
  variants: z.array(z.object({ variant: z.string(), bytes: z.int(), files: z.int() })),
  /**
   * An upload is counted on the day on which it was processed. A play session is counted after its end, on the day on which it was created. `tracks`,
   * `duration` and `bytes` are what was stored at the end of the day.
   */
  days: z.array(
    z.object({
      date: z.iso.date(),
      uploads: z.int(),
      upload_bytes: z.int(),
      sessions: z.int(),
      tracks: z.int(),
      duration: z.number(),
      bytes: z.int(),
    }),
  ),
})

export const usageOperations = defineOperations({
  getUsage: {
    method: 'get',
    path: '/v1/usage',
    summary:
      'Get what the organization stores, and its uploads and play sessions by day; by default of the last 30 days',
    tag: 'Organizations',
    access: ['server'],
    query: z.strictObject({ from: z.iso.date().optional(), to: z.iso.date().optional() }),
    /** `quota.used_bytes` also contains files that are not processed yet, tracks in the trash, and open upload handles. */
    response: ok({ usage: Usage, quota: Quota.pick({ max_bytes: true, used_bytes: true }) }),
  },
})

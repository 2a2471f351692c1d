import * as z from 'zod'

import { named, ok } from './common.ts'
import { defineOperations } from './operation.ts'

/** An organization's storage, and its activity by day in UTC (docs/operate.md#usage). */
export const Usage = named('Usage', {
  /** Processed tracks. */
  tracks: z.int(),
  /** Seconds of all tracks. */
  duration: z.number(),
  /** Bytes of all files, and of the uploaded files among them. */
  bytes: z.object({ total: z.int(), original: z.int() }),
  /** The other files by the variant's `index`, the largest first. */
  variants: z.array(z.object({ variant: z.string(), bytes: z.int(), files: z.int() })),
  /** Uploads count on the day they were processed, play sessions on the day they were created, once they have ended. */
  days: z.array(z.object({ date: z.iso.date(), uploads: z.int(), upload_bytes: z.int(), sessions: z.int() })),
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
    response: ok({ usage: Usage }),
  },
})

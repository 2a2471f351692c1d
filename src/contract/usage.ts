import * as z from 'zod'

import { named, ok } from './common.ts'
import { defineOperations } from './operation.ts'
import { Quota } from './quota.ts'

/** The files of an organization, and its activity on each day in UTC (docs/operate.md#usage). */
export const Usage = named('Usage', {
  /** Number of tracks that were processed. */
  tracks: z.int(),
  /** Seconds of all tracks together. */
  duration: z.number(),
  /** Size of the stored files. */
  bytes: z.object({
    /** All files. */
    total: z.int(),
    /** The uploaded files alone. */
    original: z.int(),
  }),
  /** The other files by variant, the largest first. */
  variants: z.array(
    z.object({
      /** Index of the variant. */
      variant: z.string(),
      /** Size of its files. */
      bytes: z.int(),
      /** Number of tracks that have it. */
      files: z.int(),
    }),
  ),
  /**
   * Every day of the range. An upload is counted on the day on which it was processed, and a play session on that on which it was created, after
   * its end.
   */
  days: z.array(
    z.object({
      /** The day, in UTC. */
      date: z.iso.date(),
      /** Number of files that were processed. */
      uploads: z.int(),
      /** Size of these files. */
      upload_bytes: z.int(),
      /** Number of play sessions that were created. Signed ones, such as those of shares, are not counted. */
      sessions: z.int(),
      /** Number of tracks at the end of the day. */
      tracks: z.int(),
      /** Seconds of all tracks at the end of the day. */
      duration: z.number(),
      /** Size of all files at the end of the day. */
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
    effect: 'read',
    guide: 'operate',
    limits: ['usage_days'],
    query: z.strictObject({
      /** First day, in UTC. By default, 29 days before `to`. */
      from: z.iso.date().optional(),
      /** Last day, in UTC. By default, today. */
      to: z.iso.date().optional(),
    }),
    response: ok({
      usage: Usage,
      /** The use of the organization's quota, including files that are not processed yet, the trash, and open upload URLs. */
      quota: Quota.pick({ max_bytes: true, used_bytes: true }),
    }),
  },
})

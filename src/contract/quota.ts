import * as z from 'zod'

import { named, Timestamp } from './common.ts'

/** Bytes that may be added; null allows any number. */
export const QuotaBytes = z.int().min(0).meta({ 'x-unit': 'bytes' }).nullable()
/** Number of tracks that may be added; null allows any. */
export const QuotaTracks = z.int().min(0).meta({ 'x-unit': 'tracks' }).nullable()

/** A quota, and the bytes and tracks that count for it (docs/upload.md#quotas). */
export const Quota = named('Quota', {
  /** Null allows any number of bytes. */
  max_bytes: z.int().nullable(),
  /** Bytes that count for the quota, with those that open upload URLs reserve. */
  used_bytes: z.int(),
  /** Null allows any number of tracks. */
  max_tracks: z.int().nullable(),
  /** Number of tracks that count for the quota. */
  used_tracks: z.int(),
  /** When the used bytes and tracks of an API key start at 0 again: at the end of the day in UTC. Null for other quotas. */
  resets_at: Timestamp.nullable(),
})
export type Quota = z.infer<typeof Quota>

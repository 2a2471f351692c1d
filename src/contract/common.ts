import * as z from 'zod'

import { ERRORS } from './errors.ts'

/** What every resource's schemas are made of (specification §2 and §4), with its limits (docs/architecture.md#limits). */

export const MAX_STRING = 255
export const MAX_METADATA_BYTES = 16 * 1024
export const MAX_METADATA_DEPTH = 5
export const MAX_BODY_BYTES = 64 * 1024
export const MAX_THEME_COLORS = 12
export const MAX_SESSION_VARIANTS = 20
/** Tracks that a play session lists at most. */
export const MAX_SESSION_TRACKS = 1000
/** Seconds a play session lives at most, and those a signed playback URL does; players ask for a new play view before. */
export const MAX_SESSION_TTL = 86_400
export const PLAYBACK_TTL = 3600
/** Seconds for which the same public view may be given again, and so the most by which its text is late (docs/decisions/0027). */
export const PLAY_REUSE = 30
/** Items on one page of a list. */
export const MAX_PAGE = 200
export const MAX_COVER_BYTES = 10_000_000
/** Requests per minute, as in wrangler.toml's rate limits: of an API key, and of a play session. */
export const API_RATE = 1200
export const PLAY_RATE = 600
/** Seconds an upload handle stays valid (specification §8). */
export const UPLOAD_TTL = 3600

/** Ids are compared in lower case: RFC 9562 §4 says UUIDs are case-insensitive on input. */
export const Id = z.uuid().toLowerCase()
export const Timestamp = z.iso.datetime()
export const Text = z.string().max(MAX_STRING)
export const RequiredText = Text.min(1, 'must not be empty')

const depth = (value: unknown, left: number): boolean =>
  typeof value !== 'object' || value === null || (left > 0 && Object.values(value).every((v) => depth(v, left - 1)))

/** Free-form key/values: at most 16 KB as JSON and 5 levels deep. */
export const Metadata = z
  .record(z.string(), z.unknown())
  .refine((m) => depth(m, MAX_METADATA_DEPTH), `must not be nested deeper than ${MAX_METADATA_DEPTH} levels`)
  .refine(
    (m) => !depth(m, MAX_METADATA_DEPTH) || new TextEncoder().encode(JSON.stringify(m)).length <= MAX_METADATA_BYTES,
    `must be at most ${MAX_METADATA_BYTES} bytes as JSON`,
  )

/** `limit` and `offset` of every list (specification §4). Decimal digits only: `1e2`, `0x10` and ` 5` are refused. */
const digits = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number)
export const Page = z.object({
  limit: digits.pipe(z.int().min(1).max(MAX_PAGE)).default(50),
  offset: digits.pipe(z.int().min(0)).default(0),
})
export type Page = z.output<typeof Page>

/** Filters of a list may be used one at a time: each has an index and a count of its own. */
export const oneFilter = <T extends z.ZodObject>(query: T) =>
  query.refine(
    (values) => Object.keys(values).filter((name) => name !== 'limit' && name !== 'offset').length <= 1,
    'takes one filter at a time',
  )

/** Deepest `offset` within a filtered list; without a filter there is no bound. */
export const MAX_FILTERED_OFFSET = 10_000

/** The success envelope (specification §2). */
export const ok = <const T extends z.ZodRawShape>(shape: T) =>
  z.object({ ok: z.literal(true), api_request_id: z.uuid().optional(), ...shape })

/** Codes of the error envelope; OpenAPI tells what each means. */
export const ErrorCode = z.enum(Object.keys(ERRORS) as (keyof typeof ERRORS)[]).describe(
  Object.entries(ERRORS)
    .map(([code, { status, meaning }]) => `- \`${code}\` (${status}): ${meaning}`)
    .join('\n'),
)
export type ErrorCode = z.infer<typeof ErrorCode>

/** The error envelope (specification §7); `code` and `errors` are additive. */
export const ErrorBody = z.object({
  ok: z.literal(false),
  message: z.string(),
  code: ErrorCode,
  api_request_id: z.uuid().optional(),
  /** Which fields are wrong: the path from the body's, query's or path's root, joined with dots. */
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
})
export type ErrorBody = z.infer<typeof ErrorBody>

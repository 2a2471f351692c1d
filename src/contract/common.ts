import * as z from 'zod'

import { EFFECTS } from './effect.ts'
import { type ErrorCode as Code, ERROR_STATUS } from './error_status.ts'
import { MAX_AFTER, MAX_METADATA_BYTES, MAX_METADATA_DEPTH, MAX_PAGE, MAX_STRING } from './facts.ts'
import { oneLine } from './text.ts'

/** Common parts of the schemas of all resources (specification §2 and §4). Their limits are in facts.ts (docs/architecture.md#limits). */

// Ids are converted to lower case, because UUIDs in requests are case-insensitive (RFC 9562 §4).
export const Id = z.uuid().toLowerCase()
export const Timestamp = z.iso.datetime()
export const Text = z.string().max(MAX_STRING)
export const RequiredText = Text.min(1)

// A title, subtitle or name on one line.
export const Title = z.string().overwrite(oneLine).max(MAX_STRING)
export const RequiredTitle = Title.min(1)

/** A URL with one of these protocols, which `names` lists for the message. */
export const urlOf = (protocol: RegExp, names: string, longest: number) =>
  z
    .url({
      protocol,
      error: ({ code }) => (code === 'invalid_format' ? `must be a URL that starts with ${names}` : undefined),
    })
    .max(longest)

/** Removes duplicates from a list. The first occurrence of each value stays. */
export const unique = <const T extends z.ZodType<readonly unknown[]>>(list: T) =>
  list.overwrite((values) => [...new Set(values)] as never)

const isWithinDepth = (value: unknown, levels: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((v) => isWithinDepth(v, levels - 1)))

/** Your own data, which the service stores as you send it: a JSON object of at most 16 KB, nested at most 5 levels deep. */
export const Metadata = z
  .record(z.string(), z.unknown())
  .refine((m) => isWithinDepth(m, MAX_METADATA_DEPTH), `must not be nested deeper than ${MAX_METADATA_DEPTH} levels`)
  .refine(
    (m) =>
      !isWithinDepth(m, MAX_METADATA_DEPTH) || new TextEncoder().encode(JSON.stringify(m)).length <= MAX_METADATA_BYTES,
    `must be at most ${MAX_METADATA_BYTES} bytes as JSON`,
  )

/** Accepts a number in a query. It accepts only decimal digits: `1e2`, `0x10` and ` 5` are refused. */
export const digits = (least: number, most: number, unit?: string) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number, from ${least} to ${most}${unit ? ` ${unit}` : ''}`)
    .transform(Number)
    .pipe(z.int().min(least).max(most).meta({ 'x-unit': unit }))

/** `limit` and `offset` of all lists (specification §4). */
export const Page = z.strictObject({
  /** Maximum number of items in the response. */
  limit: digits(1, MAX_PAGE, 'items').default(50),
  /** Number of items to skip. An offset past the end returns an empty page. */
  offset: digits(0, 999_999_999, 'items').default(0),
})
export type Page = z.output<typeof Page>

/**
 * The page of a list of tracks, collections or playlists. `after` is that of the previous page: the id of its last item, a dot, and the value that the list
 * is sorted by (docs/decisions/0051).
 */
export const ListPage = Page.extend({
  /** `after` of the previous page, to continue behind its last item. It reads further than `offset`, and skips nothing if items are added. */
  after: z
    .string()
    .max(MAX_AFTER)
    .regex(/^[\da-f-]{36}\.[^]*$/, 'must be `after` of a response')
    .optional(),
})

/** Accepts the sort keys of a list; a leading `-` reverses the order. */
export const sortedBy = <const K extends string>(...keys: K[]) =>
  z.enum(keys.flatMap((key): (K | `-${K}`)[] => [key, `-${key}`])).optional()

/** A search query: up to 16 words or beginnings of words, all of which must occur. Case and accents are ignored (docs/lists.md). */
export const Query = RequiredText.optional()

/** Accepts some of these names, separated by commas, and returns them without duplicates. */
export const someOf = <const T extends Record<string, string>>(names: z.ZodEnum<T>) => {
  const { options } = names
  const name = `(${options.join('|')})`
  return z
    .string()
    .regex(
      new RegExp(`^${name}(,${name}){0,${options.length - 1}}$`),
      `must be some of ${options.join(', ')}, with commas between`,
    )
    .transform((list) => [...new Set(list.split(','))] as T[keyof T][])
    .pipe(z.array(names))
    .optional()
}

/** Changes with every change to the resource. An update whose `If-Match` has another version is refused with 412 `version_mismatch`. */
export const Version = z.int()
// A proxy that compresses a response makes its `ETag` weak, as Cloudflare does, so `W/"7"` is accepted.
/** The headers of an operation that compares versions. `*` matches every version. */
export const VersionHeaders = z.object({
  /**
   * Makes the change only if the resource still has this `version`, and otherwise returns 412 `version_mismatch`. The `ETag` of a read is accepted as well,
   * and `*` matches every version.
   */
  'if-match': z
    .string()
    .regex(/^(\*|\d{1,15}|(W\/)?"\d{1,15}")$/, 'must be the version of the resource, or *')
    .optional(),
})

/** Accepts the names of optional parts of a response, separated by commas. */
export const including = <const N extends string>(...names: N[]) => someOf(z.enum(names))

/** The fields of all lists that can be searched (docs/decisions/0051, docs/decisions/0093). */
export const counted = {
  /** Number of items on all pages together; for a search, at most 1,000 are counted. */
  count: z.int(),
  /** Present if there may be more items than `count`. */
  is_count_exact: z.literal(false).optional(),
  /** Send it as `after` to get the next page; null if this is the last one. */
  after: z.string().nullable(),
  /** Only with `q`: another spelling that finds something, if `q` itself finds nothing; otherwise null. */
  suggestion: z.string().nullable().optional(),
}

/**
 * The query of a deletion: `trash=true` makes it reversible (docs/decisions/0054). Unknown parameters are refused, so that a misspelled `trash` does
 * not delete permanently.
 */
export const Deletion = z.strictObject({
  /** `true` moves the item to the trash, where it can be restored for seven days. By default, it is deleted permanently. */
  trash: z.enum(['true', 'false']).optional(),
})

/** Creates a schema that the OpenAPI document refers to by name. */
export const named = <const T extends z.ZodRawShape>(id: string, shape: T) => z.object(shape).meta({ id })

/** Adds the fields that all successful responses have (specification §2). */
export const ok = <const T extends z.ZodRawShape>(shape: T) =>
  z.object({
    /** Distinguishes success (`true`) from an error (`false`). */
    ok: z.literal(true),
    /** Identifies this request in the log of the service. Quote it when you report a problem. */
    api_request_id: z.uuid().optional(),
    ...shape,
  })

/** The codes of error responses (errors.ts). */
export const ErrorCode = z.enum(Object.keys(ERROR_STATUS) as Code[]).meta({ id: 'ErrorCode' })

/** `read`, `write` or `delete`: the effect of an operation, and a right of a server key (docs/keys.md#keys-that-may-do-less). */
export const Effect = z.enum(EFFECTS).meta({ id: 'Effect' })

/** The quota that an upload would exceed (docs/upload.md#quotas). */
export const ExceededQuota = named('ExceededQuota', {
  /** The owner of the quota. */
  scope: z.enum(['upload_session', 'api_key', 'organization']),
  /** Whether the bytes or the number of tracks would exceed it. */
  name: z.enum(['max_bytes', 'max_tracks']),
  /** The bytes or tracks that the quota allows. */
  limit: z.int(),
  /** The bytes or tracks that are used without this request. */
  used: z.int(),
  /** The bytes that this request would reserve, or 1 for a track. */
  requested: z.int(),
  /** When `used` starts at 0 again; null if it does not. */
  resets_at: Timestamp.nullable(),
})
export type ExceededQuota = z.infer<typeof ExceededQuota>

/** The body of all error responses (specification §7). `code`, `errors`, `docs_url`, `missing`, `quota`, `reason` and `current` are not in the specification. */
export const ErrorBody = named('ErrorBody', {
  /** Distinguishes an error (`false`) from success (`true`). */
  ok: z.literal(false),
  /** A sentence for people. Its wording may change, so programs should read `code`. */
  message: z.string(),
  code: ErrorCode,
  /** Identifies this request in the log of the service. Quote it when you report a problem. */
  api_request_id: z.uuid().optional(),
  /** The invalid fields and parameters. */
  errors: z
    .array(
      z.object({
        /** Path from the root of the body, query or URL path, joined with dots. */
        path: z.string(),
        /** The fault of the value, for people. */
        message: z.string(),
      }),
    )
    .optional(),
  /** Address of the paragraph about the code in the documentation of the service. */
  docs_url: z.url().optional(),
  /** Only if the server key lacks the right: the effects that its `may` would need (docs/keys.md#keys-that-may-do-less). */
  missing: z.array(Effect).optional(),
  /** Only with the code `quota_exceeded`. */
  quota: ExceededQuota.optional(),
  /** Only of a refused listening report: the reason under which the statistics count it. */
  reason: z.string().optional(),
  /** Only with the code `version_mismatch`: the resource as it is now, with its `version`. */
  current: z
    .looseObject({
      /** Identifies the resource, as in the path of the request. */
      id: z.uuid(),
      version: Version,
    })
    .optional(),
})
export type ErrorBody = z.infer<typeof ErrorBody>

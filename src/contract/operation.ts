import type * as z from 'zod'

import type { ApiTag } from './api_tags.ts'
import type { OperationEffect } from './effect.ts'
import { type ErrorCode, ERROR_STATUS } from './error_status.ts'
import type { Growth } from './facts.ts'

/**
 * The callers that may use an operation (specification §5). An empty list means that the operation is public and that the parameter `secret` grants
 * access.
 */
export type Access = 'root' | 'server' | 'player' | 'uploader'

/**
 * The description of one operation of the API. The route, the type of the handler, the OpenAPI document, the access matrix and its tests, and the
 * typed client are all derived from it.
 */
export type Operation = Description & (Reading | Writing)

type Reading = { method: 'get' | 'delete'; grows?: undefined }
/**
 * `grows`: whether the operation adds rows that stay, so that it is rejected when the database is nearly full (docs/decisions/0076). Changes to rows,
 * and temporary rows such as those of jobs, do not count.
 */
type Writing = { method: 'post' | 'put'; grows: Growth | false }

/** A table with the names of its columns, in their order. */
export interface Table {
  columns: string[]
  rows: Record<string, string | number | null>[]
}

interface Description {
  path: `/v1/${string}`
  summary: string
  tag: ApiTag
  /** The name of the page in `docs` that explains the operation. */
  guide: string
  access: readonly Access[]
  /** The effect of the operation. A server key may call it only if the key's `may` has this effect. */
  effect: OperationEffect
  /**
   * Set if some requests to the operation also need the effect `delete`: those that replace the file of a track or a cover, or that shorten the time
   * for which progress is kept.
   */
  deletes?: 'audio' | 'cover' | 'progress'
  /** Only for public operations: the name of the parameter that is the secret. The rate limits are per secret. */
  secret?: string
  params?: z.ZodObject
  /**
   * The resource names in the 404 messages of parameters, if they cannot be derived from the parameters' names. Null if a parameter names no resource: a
   * malformed one then returns 400.
   */
  nouns?: Record<string, string | null>
  query?: z.ZodObject
  /** The request headers that the operation reads. The names are in lower case. */
  headers?: z.ZodObject
  /** The table for clients may have several forms of a body (client_operations.ts). */
  body?: z.ZodObject | z.ZodUnion<readonly z.ZodObject[]>
  /** Maximum bytes of the body, if it is not the default. */
  body_size?: number
  /** Set if the JSON of the body may also be sent as `text/plain`, for which browsers send no preflight request. */
  is_text?: true
  response: z.ZodObject
  /**
   * Returns the version in the response, which is sent as `ETag`. Only for a path whose `PUT` compares it with `If-Match`. There is no 304, because the
   * responses also have values that change without the version (docs/decisions/0091).
   */
  etag?: (response: never) => number
  /** Returns the content of the response as a table, for callers that accept `text/csv`. */
  csv?: (response: never) => Table
  /** Returns the content of the response as a file, for callers that accept its content type. */
  files?: Record<string, (response: never) => string>
  /**
   * Set for listening reports: they have their own rate limit, are ignored if the listener has opted out (`Sec-GPC: 1`), and the response is a 204
   * without a body.
   */
  is_report?: true
  /** Seconds for which an isolate may cache the response. All callers of the same URL get the cached response (docs/decisions/0028). */
  reuse?: number
  /** The limits of the operation that do not follow from its fields (limit.ts). The API reference shows them. */
  limits?: readonly string[]
  /** Set if changes by this operation do not affect cached responses. */
  invisibleToListeners?: true
  /** Set if the operation can record events although it is `invisibleToListeners`. */
  emitsEvents?: true
  /** Why an operation that writes records no event for its caller (docs/events.md). All others record one. */
  recordsNoEvent?: string
  /** Error codes in addition to those that `errorsOf` derives. */
  errors?: readonly ErrorCode[]
}

export type Operations = Record<string, Operation>

/** Keeps the literal types of a table of operations. The types of the handlers and of the client depend on them. */
export const defineOperations = <const T extends Operations>(operations: T): T => operations

/** The error codes that each part of an operation can cause. */
const REFUSALS = {
  access: ['unauthorized', 'insufficient_scope', 'origin_not_allowed'],
  ids: ['not_found'],
  values: ['invalid_request'],
  query: ['invalid_request', 'unknown_field'],
  headers: ['invalid_request'],
  body: ['invalid_request', 'invalid_json', 'unknown_field', 'payload_too_large', 'unsupported_media_type'],
  // The codes that the header Idempotency-Key can cause (docs/architecture.md#repeated-requests).
  post: ['invalid_request', 'payload_too_large', 'request_in_flight', 'idempotency_key_reused'],
} as const satisfies Record<string, readonly ErrorCode[]>

/** Returns all error codes that an operation can return, except those of internal errors, ordered by status. */
export function errorsOf(operation: Operation): ErrorCode[] {
  const { method, grows, access, params, nouns, errors = [] } = operation
  const kinds = Object.keys(params?.shape ?? {}).map((name) => (nouns?.[name] === null ? 'values' : 'ids'))
  const parts = [...kinds, ...(['query', 'headers', 'body'] as const).filter((part) => operation[part])]
  const hasKey = access.length > 0
  const refusals = [...parts, ...(hasKey ? ['access' as const] : []), ...(hasKey && method === 'post' ? [method] : [])]
  const codes = new Set<ErrorCode>([
    ...refusals.flatMap((part) => REFUSALS[part]),
    ...errors,
    ...(grows ? ['storage_full' as const] : []),
    'rate_limited',
  ])
  return (Object.keys(ERROR_STATUS) as ErrorCode[]).filter((code) => codes.has(code))
}

type Part<T, K extends string> = T extends { [P in K]: infer S extends z.ZodObject } ? z.output<S> : undefined

/** The input of a handler, after parsing and with defaults. */
export type Input<T> = {
  params: Part<T, 'params'>
  query: Part<T, 'query'>
  headers: Part<T, 'headers'>
  body: Part<T, 'body'>
}

/** The output of a handler. `mount` adds the fields that all responses have. */
export type Output<T extends Operation> = Omit<z.input<T['response']>, 'ok' | 'api_request_id'>

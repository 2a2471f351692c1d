import type * as z from 'zod'

import { type ErrorCode, ERRORS } from './errors.ts'

/** The callers that may use an operation (specification §5). An empty list means public: the parameter `secret` grants access. */
export type Access = 'root' | 'server' | 'player' | 'uploader'

/**
 * One operation of the interface, as data. The route, the handler's type, the OpenAPI document, the access matrix and its tests, and the typed client
 * all come from this one description.
 */
export interface Operation {
  method: 'get' | 'post' | 'put' | 'delete'
  path: `/v1/${string}`
  summary: string
  tag: string
  access: readonly Access[]
  /** For a public operation: the parameter that acts as its secret. Rate limits apply per secret. */
  secret?: string
  params?: z.ZodObject
  /** The noun for a parameter's 404, if its name does not say it. */
  nouns?: Record<string, string>
  query?: z.ZodObject
  /** Request headers that the operation reads, by their lower-case names. */
  headers?: z.ZodObject
  body?: z.ZodObject
  /** Maximum bytes of the body, if larger than the default. */
  body_size?: number
  response: z.ZodObject
  /** Seconds for which an isolate may cache the response, for all callers of the same URL (docs/decisions/0028). */
  reuse?: number
  /** Its changes do not appear in cached responses. */
  invisibleToListeners?: true
  /** It can record events although it is `unseen`. */
  emitsEvents?: true
  /** Codes in addition to those that `errorsOf` derives. */
  errors?: readonly ErrorCode[]
}

export type Operations = Record<string, Operation>

/** Keeps the literal types of a table of operations, so that handlers and client are typed by it. */
export const defineOperations = <const T extends Operations>(operations: T): T => operations

/** Error codes that each part of an operation can cause. */
const REFUSALS = {
  access: ['unauthorized', 'insufficient_scope', 'origin_not_allowed'],
  params: ['not_found'],
  query: ['invalid_request', 'unknown_field'],
  headers: ['invalid_request'],
  body: ['invalid_request', 'invalid_json', 'unknown_field', 'payload_too_large', 'unsupported_media_type'],
  // From its Idempotency-Key (docs/architecture.md#repeated-requests).
  post: ['invalid_request', 'payload_too_large', 'request_in_flight', 'idempotency_key_reused'],
} as const satisfies Record<string, readonly ErrorCode[]>

/** Every error code that an operation can return, by status, except internal errors. */
export function errorsOf(operation: Operation): ErrorCode[] {
  const { method, access, errors = [] } = operation
  const parts = (['params', 'query', 'headers', 'body'] as const).filter((part) => operation[part])
  const refusals = [...parts, ...(access.length > 0 ? ['access' as const] : []), ...(method === 'post' ? [method] : [])]
  const codes = new Set<ErrorCode>([...refusals.flatMap((part) => REFUSALS[part]), ...errors, 'rate_limited'])
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code))
}

type Part<T, K extends string> = T extends { [P in K]: infer S extends z.ZodObject } ? z.output<S> : undefined

/** A handler's input: parsed, with defaults filled in. */
export type Input<T> = {
  params: Part<T, 'params'>
  query: Part<T, 'query'>
  headers: Part<T, 'headers'>
  body: Part<T, 'body'>
}

/** A handler's output: the response without the envelope, which `mount` adds. */
export type Output<T extends Operation> = Omit<z.input<T['response']>, 'ok' | 'api_request_id'>

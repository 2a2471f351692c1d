import type * as z from 'zod'

import { type ErrorCode, ERRORS } from './errors.ts'

/** Who may call an operation (specification §5). An empty list means public: the parameter `secret` is the permission. */
export type Access = 'root' | 'server' | 'player' | 'uploader'

/**
 * One operation of the interface, as data. The route, the handler's type, the OpenAPI document, the access matrix and its tests,
 * and the typed client all come from this one description.
 */
export interface Operation {
  method: 'get' | 'post' | 'put' | 'delete'
  path: `/v1/${string}`
  summary: string
  tag: string
  access: readonly Access[]
  /** Of a public operation: the parameter that only those know who may call it. Calls are limited by it. */
  secret?: string
  params?: z.ZodObject
  /** What a parameter names, for a 404, where its own name does not say it. */
  nouns?: Record<string, string>
  query?: z.ZodObject
  /** Request headers that the operation reads, by their lower-case names. */
  headers?: z.ZodObject
  body?: z.ZodObject
  /** Bytes of its body, if more than others have. */
  body_size?: number
  response: z.ZodObject
  /** Seconds for which an isolate may give the same answer again to whoever asks for the same URL (docs/decisions/0028). */
  reuse?: number
  /** Nothing that it changes is to be seen in an answer that is given again. */
  unseen?: true
  /** It may be told of all the same, as an event. */
  tells?: true
  /** Codes beside those that follow from the rest (`errorsOf`). */
  errors?: readonly ErrorCode[]
}

export type Operations = Record<string, Operation>

/** Keeps the literal types of a table of operations, so that handlers and client are typed by it. */
export const defineOperations = <const T extends Operations>(operations: T): T => operations

/** What any part of an operation may be refused for. */
const REFUSALS = {
  access: ['unauthorized', 'insufficient_scope', 'origin_not_allowed'],
  params: ['not_found'],
  query: ['invalid_request', 'unknown_field'],
  headers: ['invalid_request'],
  body: ['invalid_request', 'invalid_json', 'unknown_field', 'payload_too_large', 'unsupported_media_type'],
  // Its Idempotency-Key (docs/architecture.md#repeated-requests).
  post: ['invalid_request', 'payload_too_large', 'request_in_flight', 'idempotency_key_reused'],
} as const satisfies Record<string, readonly ErrorCode[]>

/** Every code that an operation answers with beside 200, faults of the service apart, by status. */
export function errorsOf(operation: Operation): ErrorCode[] {
  const { method, access, errors = [] } = operation
  const parts = (['params', 'query', 'headers', 'body'] as const).filter((part) => operation[part])
  const refusals = [...parts, ...(access.length > 0 ? ['access' as const] : []), ...(method === 'post' ? [method] : [])]
  const codes = new Set<ErrorCode>([...refusals.flatMap((part) => REFUSALS[part]), ...errors, 'rate_limited'])
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code))
}

type Part<T, K extends string> = T extends { [P in K]: infer S extends z.ZodObject } ? z.output<S> : undefined

/** What a handler receives: parsed, with defaults filled in. */
export type Input<T> = {
  params: Part<T, 'params'>
  query: Part<T, 'query'>
  headers: Part<T, 'headers'>
  body: Part<T, 'body'>
}

/** What a handler returns: the response without the envelope, which `mount` adds. */
export type Output<T extends Operation> = Omit<z.input<T['response']>, 'ok' | 'api_request_id'>

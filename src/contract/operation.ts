import type * as z from 'zod'

/** Who may call an operation (specification §5). An empty list means public: the play session's id is the secret. */
export type Access = 'root' | 'server' | 'player' | 'uploader'

/** The faults an operation answers beside 200, as in the specification's tables, and ours. */
export type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 410 | 412 | 413 | 415 | 422 | 429

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
  params?: z.ZodObject
  query?: z.ZodObject
  /** Request headers that the operation reads, by their lower-case names. */
  headers?: z.ZodObject
  body?: z.ZodObject
  response: z.ZodObject
  /** Seconds for which an isolate may give the same answer again to whoever asks for the same URL (docs/decisions/0027). */
  reuse?: number
  /** Nothing that it changes is to be seen in an answer that is given again. */
  unseen?: true
  errors: readonly ErrorStatus[]
}

export type Operations = Record<string, Operation>

/** Keeps the literal types of a table of operations, so that handlers and client are typed by it. */
export const defineOperations = <const T extends Operations>(operations: T): T => operations

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

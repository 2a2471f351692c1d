import type * as z from 'zod'

import type { ErrorCode } from '../contract/errors.ts'
import type { OperationTable } from '../contract/index.ts'

/** Everything here is derived from the operation table, at compile time only: no schema reaches the browser. */

type Operation = OperationTable[keyof OperationTable]
export type Method = Operation['method']

/** The paths that have a method, e.g. `'/v1/track'` for `post`. */
export type Path<M extends Method> = Extract<Operation, { method: M }>['path']
export type OperationAt<M extends Method, P extends string> = Extract<Operation, { method: M; path: P }>

// A query travels as text, so numbers are welcome where the schema reads digits.
type Loose<Q> = { [K in keyof Q]: Q[K] | number }
type Field<T, K extends string, Q extends boolean = false> = T extends { [P in K]: infer S extends z.ZodObject }
  ? { [P in K]: Q extends true ? Loose<z.input<S>> : z.input<S> }
  : unknown
type OptionalQuery<T> = T extends { query: z.ZodObject } ? Partial<Field<T, 'query', true>> : unknown

type OptionalHeaders<T> = T extends { headers: z.ZodObject } ? Partial<Field<T, 'headers'>> : unknown

export interface CallOptions {
  signal?: AbortSignal
  /** Of a POST: made at random unless given. Give one to make a call safe to repeat across reloads. */
  idempotency_key?: string
}
/** For one operation at a time: an intersection of unions over all of them would be too much for the compiler. */
export type Arguments<T> = T extends unknown
  ? Field<T, 'params'> & OptionalQuery<T> & OptionalHeaders<T> & Field<T, 'body'> & CallOptions
  : never

/** The arguments may be left out where nothing in them is required. */
export type Rest<T> = {} extends Arguments<T> ? [options?: Arguments<T>] : [options: Arguments<T>]

/** What went wrong: the service's error envelope, or `network` and `aborted` when there was no answer to read. */
export interface Failure {
  ok: false
  message: string
  code: ErrorCode | 'network' | 'aborted'
  /** The HTTP status, 0 without an answer. */
  status: number
  api_request_id?: string
  errors?: { path: string; message: string }[]
}

export type Success<T extends { response: z.ZodType }> = z.output<T['response']> & { ok: true }
export type Result<T extends { response: z.ZodType }> = Success<T> | Failure

import type { CallOf } from '../../../src/contract/client_operations.ts'
import type { ExceededQuota } from '../../../src/contract/common.ts'
import type { Effect } from '../../../src/contract/effect.ts'
import type { ErrorCode } from '../../../src/contract/error_status.ts'
import type { OperationName, OperationTable } from '../../../src/contract/index.ts'

/** The body of a response, typed by the operation with this method and path. */

type Operation = { [N in OperationName]: CallOf<OperationTable[N]> }[OperationName]

type WithoutQuery<P extends string> = P extends `${infer Path}?${string}` ? Path : P

type Segments<P extends string> = string extends P
  ? [string]
  : P extends `${infer Head}/${infer Tail}`
    ? [Head, ...Segments<Tail>]
    : [P]

/**
 * Whether each segment of a path matches the segment of an operation's path in one of the modes of `Mode`. `exact`: a computed segment matches a
 * `{parameter}`, and a literal segment matches the same literal. `literal`: a literal segment matches a `{parameter}`. `any`: a computed segment
 * matches a literal, and so does that literal followed by a computed query.
 */
type Fits<P extends unknown[], O extends unknown[], Mode> = P extends [infer A, ...infer Rest]
  ? O extends [infer B, ...infer Others]
    ? (
        B extends `{${string}}`
          ? string extends A
            ? 'exact'
            : 'literal'
          : string extends A
            ? 'any'
            : A extends B
              ? 'exact'
              : A extends `${B & string}${string}`
                ? 'any'
                : 'none'
      ) extends Mode
      ? Fits<Rest, Others, Mode>
      : false
    : false
  : O extends []
    ? true
    : false

type Named<M extends string, P extends unknown[], Mode, O = Operation> = O extends {
  method: Lowercase<M>
  path: infer Q extends string
}
  ? Fits<P, Segments<Q>, Mode> extends true
    ? O
    : never
  : never

/** The first of these types that is not empty. */
type First<A, B, C> = [A] extends [never] ? ([B] extends [never] ? C : B) : A

type OperationOf<M extends string, P extends unknown[]> = First<
  Named<M, P, 'exact'>,
  Named<M, P, 'exact' | 'literal'>,
  Named<M, P, 'exact' | 'literal' | 'any'>
>

/**
 * The response of the operation with status 200. It is untyped if no operation has the path (because it is misspelled or malformed on purpose), or if
 * the method or path is computed.
 */
export type ResponseOf<M extends string, P extends string> = string extends M
  ? Untyped
  : string extends P
    ? Untyped
    : [OperationOf<M, Segments<WithoutQuery<P>>>] extends [never]
      ? Untyped
      : OperationOf<M, Segments<WithoutQuery<P>>> extends infer O
        ? O extends { response: infer R }
          ? R
          : never
        : never

// oxlint-disable-next-line typescript/no-explicit-any -- a computed method or path names no operation
type Untyped = any

/** The body of a response with any other status. */
export interface Refusal {
  ok: false
  message: string
  code: ErrorCode
  api_request_id: string
  /** The invalid fields of a 400 response. */
  errors: { path: string; message: string }[]
  /** Only if a server key lacks these rights. */
  missing: Effect[]
  /** Only with the code `quota_exceeded`. */
  quota: ExceededQuota
  /** Only of a refused listening report. */
  reason: string
}

type WithoutOk<T> = T extends unknown ? Omit<T, 'ok'> : never
/** The body before its status is checked: the fields of the response or of the error. */
export type Unchecked<T> = WithoutOk<T> & Omit<Refusal, 'ok'> & { ok: boolean }

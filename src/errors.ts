import type { ErrorCode } from './contract/common.ts'

type ApiErrorStatus = 400 | 401 | 403 | 404 | 405 | 409 | 410 | 412 | 413 | 415 | 422 | 429 | 500 | 503

/** A fault that the caller is told about. Everything else that is thrown becomes a 500 without detail. */
export class ApiError extends Error {
  readonly status: ApiErrorStatus
  readonly code: ErrorCode
  readonly errors: { path: string; message: string }[] | undefined
  readonly headers: Record<string, string>

  constructor(
    status: ApiErrorStatus,
    code: ErrorCode,
    message: string,
    errors?: { path: string; message: string }[],
    headers: Record<string, string> = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.errors = errors
    this.headers = headers
  }
}

/** 404: it does not exist, or it is not the caller's; the two look the same. */
export const notFound = (what: string) => new ApiError(404, 'not_found', `${what} not found`)

/** 400 for one field, when the schema alone cannot tell. */
export const invalid = (path: string, message: string, code: ErrorCode = 'invalid_request') =>
  new ApiError(400, code, `${path} ${message}`, [{ path, message }])

/** 410 for a session that ended less than a day ago (docs/architecture.md#sessions). */
export const sessionExpired = (what: string) =>
  new ApiError(410, 'session_expired', `${what} has expired; create a new one`)

export const unauthorized = (message: string) =>
  new ApiError(401, 'unauthorized', message, undefined, { 'www-authenticate': 'Bearer realm="tonearm"' })

export const insufficientScope = (kind: string) =>
  new ApiError(403, 'insufficient_scope', `This operation is not open to keys of the type ${kind}`)

/** A fault for the log. Drizzle's own message holds the values of the statement; its cause does not. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : (error.stack ?? error.message)
}

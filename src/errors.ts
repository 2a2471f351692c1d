import { type ErrorCode, ERRORS } from './contract/errors.ts'

/** A fault that the caller is told about. Everything else that is thrown becomes a 500 without detail. */
export class ApiError extends Error {
  readonly status: (typeof ERRORS)[ErrorCode]['status']
  readonly code: ErrorCode
  readonly errors: { path: string; message: string }[] | undefined
  readonly headers: Record<string, string>

  constructor(
    code: ErrorCode,
    message: string,
    errors?: { path: string; message: string }[],
    headers: Record<string, string> = {},
  ) {
    super(message)
    this.status = ERRORS[code].status
    this.code = code
    this.errors = errors
    this.headers = headers
  }
}

/** 404: it does not exist, or it is not the caller's; the two look the same. */
export const notFound = (what: string) => new ApiError('not_found', `${what} not found`)

/** 400 for one field, when the schema alone cannot tell. */
export const invalid = (
  path: string,
  message: string,
  code: 'invalid_request' | 'unknown_variant' = 'invalid_request',
) => new ApiError(code, `${path} ${message}`, [{ path, message }])

/** 410 for a session that ended less than a day ago (docs/architecture.md#sessions). */
export const sessionExpired = (what: string) => new ApiError('session_expired', `${what} has expired; create a new one`)

export const unauthorized = (message: string) =>
  new ApiError('unauthorized', message, undefined, { 'www-authenticate': 'Bearer realm="tonearm"' })

export const insufficientScope = (kind: string) =>
  new ApiError('insufficient_scope', `This operation is not open to keys of the type ${kind}`)

/** A fault for the log. Drizzle's own message holds the values of the statement; its cause does not. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : (error.stack ?? error.message)
}

/** Whether the database has no room: the disk of a laptop may be full, and D1 has a largest size. */
export const isFull = (error: unknown) =>
  /SQLITE_FULL|SQLITE_IOERR|disk is full|maximum DB size/i.test(describeError(error))

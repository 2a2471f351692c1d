import { type ErrorCode, ERRORS } from '../contract/errors.ts'

/** An error that the caller may see. Any other exception becomes a 500 without detail. */
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

/** 404. A resource of another organization looks like one that does not exist. */
export const notFound = (noun: string) => new ApiError('not_found', `${noun} not found`)

/** 400 for one field that the schema alone cannot check. */
export const invalid = (
  path: string,
  message: string,
  code: 'invalid_request' | 'unknown_variant' = 'invalid_request',
) => new ApiError(code, `${path} ${message}`, [{ path, message }])

/** 410 for a session that ended less than a day ago (docs/architecture.md#sessions). */
export const sessionExpired = (noun: string) => new ApiError('session_expired', `${noun} has expired; create a new one`)

export const unauthorized = (message: string) =>
  new ApiError('unauthorized', message, undefined, { 'www-authenticate': 'Bearer realm="tonearm"' })

export const insufficientScope = (kind: string) =>
  new ApiError('insufficient_scope', `This operation is not open to keys of the type ${kind}`)

/** The text of an error for the log. Drizzle's message contains the statement's values; its cause does not. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : (error.stack ?? error.message)
}

/** Whether the database is full: the disk of a laptop, or D1's maximum size. */
export const isFull = (error: unknown) =>
  /SQLITE_FULL|SQLITE_IOERR|disk is full|maximum DB size/i.test(describeError(error))

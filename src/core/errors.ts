import type { ErrorBody } from '../contract/common.ts'
import { type ErrorCode, ERROR_STATUS } from '../contract/error_status.ts'

type Details = Pick<ErrorBody, 'errors' | 'missing' | 'quota' | 'current' | 'reason'>

/** An error whose message may be shown to the caller. Any other exception becomes a 500 response without details. */
export class ApiError extends Error {
  readonly status: (typeof ERROR_STATUS)[ErrorCode]
  readonly code: ErrorCode
  readonly details: Details
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, message: string, details: Details = {}, headers: Record<string, string> = {}) {
    super(message)
    this.status = ERROR_STATUS[code]
    this.code = code
    this.details = details
    this.headers = headers
  }
}

/** Returns a 404 error. A resource that belongs to another organization causes the same error as one that does not exist. */
export const notFound = (noun: string) => new ApiError('not_found', `${noun} not found`)

/** Returns a 409 error for a track that cannot be played, or not yet. */
export const notReady = (status: string) =>
  new ApiError(
    'track_not_ready',
    status === 'failed'
      ? 'This track could not be processed and cannot be played'
      : `This track is still ${status}; try again soon`,
  )

/** Returns a 400 error for a single field with an invalid value that the schema cannot detect. */
export const invalid = (
  path: string,
  message: string,
  code: 'invalid_request' | 'unknown_field' | 'unknown_variant' = 'invalid_request',
) => new ApiError(code, `${path} ${message}`, { errors: [{ path, message }] })

/** Returns a 410 error for a session that ended less than a day ago (docs/architecture.md#sessions). */
export const sessionExpired = (noun: string) => new ApiError('session_expired', `${noun} has expired; create a new one`)

export const unauthorized = (message: string) =>
  new ApiError('unauthorized', message, undefined, { 'www-authenticate': 'Bearer realm="tonearm"' })

/**
 * Returns an error's text for the log. For errors from Drizzle, it is the cause's text, because Drizzle's own message contains the values of the
 * statement.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : (error.stack ?? error.message)
}

/** Whether an error means that the database is full: the disk of a laptop, or the maximum size of a D1 database or account, has been reached. */
export const isFull = (error: unknown) =>
  /SQLITE_FULL|SQLITE_IOERR|disk is full|maximum DB size|maximum account storage/i.test(describeError(error))

/** Returns a 507 error. Deleted items free their space when they leave the trash. */
export const storageFull = () =>
  new ApiError(
    'storage_full',
    'The database is nearly full. Delete what is no longer needed and empty the trash, or ask the operator of the service for room',
  )

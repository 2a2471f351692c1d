import { isTransientError, retrying } from '../../adapters/db/retry.ts'
import { ApiError } from '../../core/errors.ts'

/** The statuses that a replica may return because it lags behind the primary: the row is missing there, or in an earlier state. */
const MAY_BE_STALE = [404, 409, 410]

/** Repeats a read at the primary after the nearest replica has failed. Throws `error` if the primary would return the same. */
export async function readAgain<T>(error: unknown, readPrimary: () => Promise<T>): Promise<T> {
  const mayBeStale = error instanceof ApiError && MAY_BE_STALE.includes(error.status)
  if (!mayBeStale && !isTransientError(error)) throw error
  return retrying(readPrimary)
}

/** Repeats a read after a transient error. Throws any other error. */
export async function retryTransient<T>(error: unknown, read: () => Promise<T>): Promise<T> {
  if (!isTransientError(error)) throw error
  return retrying(read)
}

/** Transient errors of D1, and how statements are retried after them (docs/decisions/0075). */

import { intercept } from './intercept.ts'

/** D1's messages for transient errors (D1, Debug D1 and Retry queries): network problems, restarts and overload. */
const TRANSIENT =
  /network connection lost|object to be reset|its code was updated|limit and was reset|transient issue|is overloaded|queued for too long|too many requests queued/i

/** Whether an error is a transient error of D1, or an error of Drizzle that was caused by one. */
export const isTransientError = (error: unknown): boolean =>
  error instanceof Error && (TRANSIENT.test(error.message) || isTransientError(error.cause))

export interface RetryPolicy {
  attempts: number
  /** Milliseconds before the first retry. The time doubles for each retry after it, with jitter. */
  backoff: number
}

/** For background work, which can wait. */
const BACKGROUND: RetryPolicy = { attempts: 5, backoff: 100 }
/** For requests: all retries together wait at most half a second. */
const REQUEST: RetryPolicy = { attempts: 3, backoff: 100 }

/** Errors after which no attempt is left. An outer `retrying` does not retry them again. */
const exhausted = new WeakSet<Error>()
const isExhausted = (error: unknown): boolean =>
  error instanceof Error && (exhausted.has(error) || isExhausted(error.cause))

/** Runs a statement again after transient errors. A failed attempt may still have taken effect, so the statement must be idempotent. */
export async function retrying<T>(run: () => Promise<T>, { attempts, backoff } = REQUEST): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (!isTransientError(error) || isExhausted(error)) throw error
      if (attempt === attempts) {
        exhausted.add(error as Error)
        throw error
      }
      await scheduler.wait(backoff * 2 ** (attempt - 1) * (0.5 + Math.random()))
    }
  }
}

/** Whether a statement only reads. A statement that starts in another way may write. */
const isRead = (query: string) => /^\s*select\b/i.test(query)

/** Returns a D1 binding that retries every statement and batch. It is for background work, in which every statement is idempotent. */
export const retryInBackground = (d1: D1Database) => withRetries(d1, BACKGROUND, () => true)

/** Returns a D1 binding for a request. It retries what only reads, and everything if `isIdempotent`. */
export const retryInRequest = (d1: D1Database, isIdempotent: boolean) =>
  withRetries(d1, REQUEST, isIdempotent ? () => true : isRead)

function withRetries(d1: D1Database, policy: RetryPolicy, isSafe: (query: string) => boolean): D1Database {
  return intercept(d1, (run, queries) => (queries.every(isSafe) ? retrying(run, policy) : run()))
}

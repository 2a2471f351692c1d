import type { Context as Request } from 'hono'

import type { ErrorBody } from '../contract/common.ts'
import { ApiError, describeError, isFull, storageFull } from '../core/errors.ts'
import { log } from '../core/log.ts'
import type { AppEnv } from './context.ts'

/** Web pages from any origin may call the API. Responses contain signed URLs and private data, so no cache may store them. */
export const HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Retry-After, Idempotency-Replayed',
  'cache-control': 'no-store',
}
export const JSON_HEADERS = { ...HEADERS, 'content-type': 'application/json' }

/** Returns the id of the request. It is never taken from the caller, because `api_request_id` must be a UUID (specification §2). */
export function requestId(c: Request<AppEnv>): string {
  const existing = c.get('requestId')
  if (existing) return existing
  const id = crypto.randomUUID()
  c.set('requestId', id)
  return id
}

/** Returns the error that callers see instead of an internal error. */
const publicError = (error: unknown) =>
  isFull(error) ? storageFull() : new ApiError('internal', 'Something went wrong on our side')

/** Returns the response for an error. An error that is not an `ApiError` is logged, and the caller gets a 500 or 503 without details. */
export function errorResponse(error: unknown, api_request_id: string): Response {
  const fault = error instanceof ApiError ? error : publicError(error)
  if (fault !== error) log('error', 'fault', { api_request_id, error: describeError(error) })
  const body: ErrorBody = {
    ok: false,
    message: fault.message,
    code: fault.code,
    api_request_id,
    ...(fault.errors && { errors: fault.errors }),
  }
  return new Response(JSON.stringify(body), { status: fault.status, headers: { ...JSON_HEADERS, ...fault.headers } })
}

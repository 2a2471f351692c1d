import type { Context as Request } from 'hono'

import type { ErrorBody } from '../contract/common.ts'
import { ApiError, describeError, isFull } from '../core/errors.ts'
import { log } from '../core/log.ts'
import type { AppEnv } from './context.ts'

/** Pages of any origin may call. Responses hold signed URLs and private data, so no cache may store them. */
export const HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Retry-After, Idempotency-Replayed',
  'cache-control': 'no-store',
}
export const JSON_HEADERS = { ...HEADERS, 'content-type': 'application/json' }

/** The request's id. Never a value from the caller: `api_request_id` is a UUID (specification §2). */
export function requestId(c: Request<AppEnv>): string {
  const existing = c.get('requestId')
  if (existing) return existing
  const id = crypto.randomUUID()
  c.set('requestId', id)
  return id
}

/** The public error for an internal failure. */
const publicError = (error: unknown) =>
  isFull(error)
    ? new ApiError('unavailable', 'The database has no room at the moment; try again later')
    : new ApiError('internal', 'Something went wrong on our side')

/** The error response. Any error but an `ApiError` is logged and becomes a 500 without detail. */
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

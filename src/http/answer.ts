import type { Context as HonoContext } from 'hono'

import type { ErrorBody } from '../contract/common.ts'
import { ApiError } from '../core/errors.ts'
import { baseUrl } from './base_url.ts'
import type { AppEnv } from './context.ts'

/** Web pages from any origin may call the API. Responses contain signed URLs and private data, so no cache may store them. */
export const HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Retry-After, Idempotency-Replayed, ETag',
  'cache-control': 'no-store',
}
export const JSON_HEADERS = { ...HEADERS, 'content-type': 'application/json' }

/** Returns the headers that all responses have. Strict-Transport-Security must not be sent without TLS (RFC 6797 §7.2). */
export const securityHeaders = (url: string) => ({
  'x-content-type-options': 'nosniff',
  ...(url.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000' }),
})

/** Returns the id of the request. It is never taken from the caller, because `api_request_id` must be a UUID (specification §2). */
export function requestId(c: HonoContext<AppEnv>): string {
  const existing = c.get('requestId')
  if (existing) return existing
  const id = crypto.randomUUID()
  c.set('requestId', id)
  return id
}

/** Returns the response for an error. For an error that is not an `ApiError`, it is a 500 or 503 without details. */
export async function errorResponse(
  error: unknown,
  env: Env,
  request: Request,
  api_request_id: string,
): Promise<Response> {
  const fault =
    error instanceof ApiError
      ? error
      : (await import('./public_error.ts')).publicError(error, env, request, api_request_id)
  const body: { [K in keyof ErrorBody]: ErrorBody[K] | undefined } = {
    ok: false,
    message: fault.message,
    code: fault.code,
    docs_url: `${baseUrl(env, request.url)}/docs/errors#${fault.code}`,
    api_request_id,
    ...fault.details,
  }
  return new Response(JSON.stringify(body), { status: fault.status, headers: { ...JSON_HEADERS, ...fault.headers } })
}

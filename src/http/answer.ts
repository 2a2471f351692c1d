import type { Context as Request } from 'hono'

import type { AppEnv } from './context.ts'

/** Pages of any origin may call; answers hold signed URLs and private data, which nothing on the way may keep. */
export const HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Retry-After, Idempotency-Replayed',
  'cache-control': 'no-store',
}
export const JSON_HEADERS = { ...HEADERS, 'content-type': 'application/json' }

/** The request's id. Never the caller's own: `api_request_id` is a UUID (specification §2). */
export function requestId(c: Request<AppEnv>): string {
  const known = c.get('requestId')
  if (known) return known
  const id = crypto.randomUUID()
  c.set('requestId', id)
  return id
}

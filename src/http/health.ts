import type { Hono } from 'hono'

import { transcoderSlots } from '../adapters/transcoder/client.ts'
import { missingSettings } from '../core/required_settings.ts'
import { failingRows } from '../resources/operator/system.ts'
import type { AppEnv } from './context.ts'

/** Milliseconds for which a healthy result is cached. The cache is necessary because the endpoint is public and has no rate limit. */
const HEALTHY_FOR = 5000

/**
 * `GET /health` responds with 503 and the failing parts if the service is not healthy. It needs no key and returns nothing else; `GET /v1/system`
 * returns the details.
 */
export function mountHealth(app: Hono<AppEnv>): void {
  let healthy_at = 0
  app.get('/health', async (c) => {
    const age = Date.now() - healthy_at
    const isCached = c.env.REUSE_ANSWERS === 'true' && age >= 0 && age < HEALTHY_FOR
    const [rows, slots] = await Promise.all([isCached ? [] : failingRows(c.env), transcoderSlots(c.env)])
    if (!isCached && rows.length === 0) healthy_at = Date.now()
    const configuration = missingSettings(c.env).length > 0 ? ['configuration'] : []
    const failing = [...configuration, ...rows, ...(slots > 0 ? [] : ['transcoder'])]
    const ok = failing.length === 0
    return c.json(ok ? { ok } : { ok, failing }, ok ? 200 : 503, { 'cache-control': 'no-store' })
  })
}

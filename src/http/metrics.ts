import type { Hono } from 'hono'

import { sha256 } from '../adapters/crypto/secret.ts'
import { openDatabase } from '../adapters/db/database.ts'
import { ApiError, unauthorized } from '../core/errors.ts'
import { readMetrics } from '../resources/operator/metrics.ts'
import { limitGuesses } from './auth/limit_key.ts'
import { clientOf } from './auth/limit_rate.ts'
import type { AppEnv } from './context.ts'

/**
 * `GET /v1/system/metrics` returns metrics for Prometheus (docs/metrics.md). It is not in the table of operations because it returns text, and because
 * its key, METRICS_KEY, opens nothing else: a monitoring system should not hold the root key.
 */
export function mountMetrics(app: Hono<AppEnv>): void {
  app.get('/v1/system/metrics', async (c) => {
    const { METRICS_KEY } = c.env
    if (!METRICS_KEY)
      throw new ApiError('not_configured', 'METRICS_KEY is not set: npx wrangler secret put METRICS_KEY')
    const secret = /^bearer +(\S+) *$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? ''
    await limitGuesses(c.env, clientOf(c.env, c.req.raw.headers))
    // The hashes are compared, so that the time of the comparison reveals nothing about the key.
    if ((await sha256(secret)) !== (await sha256(METRICS_KEY)))
      throw unauthorized('Send METRICS_KEY in the header Authorization: Bearer <METRICS_KEY>')
    const text = await readMetrics({ env: c.env, db: openDatabase(c.env.DB), now: Date.now() })
    return c.text(text, 200, {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'cache-control': 'no-store',
    })
  })
}

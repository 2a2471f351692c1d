import type { Hono } from 'hono'

import { transcoderSlots } from '../adapters/transcoder/client.ts'
import type { SystemPart } from '../contract/system.ts'
import { neededSettings } from '../core/required_settings.ts'
import { failingRows } from '../resources/operator/system.ts'
import type { AppEnv } from './context.ts'

/** Milliseconds for which the state of the database is reused, because the endpoint is public and has no rate limit. */
const HEALTHY_FOR = 5000
const FAILING_FOR = 2000

/**
 * `GET /health` responds with 503 and the failing parts if the service is not healthy. It needs no key and returns nothing else; `GET /v1/system`
 * returns the details.
 */
export function mountHealth(app: Hono<AppEnv>): void {
  let known: { rows: SystemPart[]; at: number } = { rows: [], at: 0 }
  const readRows = async (env: Env) => {
    const age = Date.now() - known.at
    if (env.REUSE_ANSWERS === 'true' && age >= 0 && age < (known.rows.length > 0 ? FAILING_FOR : HEALTHY_FOR))
      return known.rows
    const rows = await failingRows(env)
    known = { rows, at: Date.now() }
    return rows
  }
  app.get('/health', async (c) => {
    const [rows, slots] = await Promise.all([readRows(c.env), transcoderSlots(c.env)])
    const failing = [
      ...(neededSettings(c.env).length > 0 ? ['configuration'] : []),
      ...rows,
      ...(slots > 0 ? [] : ['transcoder']),
    ]
    const ok = failing.length === 0
    return c.json(ok ? { ok } : { ok, failing }, ok ? 200 : 503, { 'cache-control': 'no-store' })
  })
}

import type { Hono } from 'hono'

import { openDatabase } from '../adapters/database.ts'
import { transcoderSlots } from '../adapters/transcoder.ts'
import { failingRows } from '../resources/system.ts'
import type { AppEnv } from './context.ts'

/** Milliseconds for which the database is not asked again when all was well: anybody may ask, as often as they like. */
const WELL_FOR = 5000

/** `GET /health`: 503 with what fails. No key, so it tells nothing more; `GET /v1/system` does. */
export function mountHealth(app: Hono<AppEnv>): void {
  let well_at = 0
  app.get('/health', async (c) => {
    const age = Date.now() - well_at
    const isKnown = c.env.REUSE_ANSWERS === 'true' && age >= 0 && age < WELL_FOR
    const [rows, slots] = await Promise.all([
      isKnown ? [] : failingRows(openDatabase(c.env.DB)),
      transcoderSlots(c.env),
    ])
    if (!isKnown && rows.length === 0) well_at = Date.now()
    const failing = slots > 0 ? rows : [...rows, 'transcoder']
    const ok = failing.length === 0
    return c.json(ok ? { ok } : { ok, failing }, ok ? 200 : 503, { 'cache-control': 'no-store' })
  })
}

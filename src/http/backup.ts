import type { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'

import type { IsolateCache } from '../adapters/cache/isolate_cache.ts'
import { openForRequest } from '../adapters/db/database.ts'
import { BackupRequest, MAX_REQUEST_BYTES } from '../contract/backup.ts'
import { ApiError } from '../core/errors.ts'
import { runBackupAction } from '../resources/operator/backup.ts'
import { JSON_HEADERS } from './answer.ts'
import { readJson, tooLarge } from './api/json_body.ts'
import { authenticate } from './auth/authenticate.ts'
import { limitKey } from './auth/limit_key.ts'
import { clientOf } from './auth/limit_rate.ts'
import { type AppEnv, contextOf } from './context.ts'

/**
 * `POST /v1/system/backup` with the root key: the requests of `npm run backup` and `npm run restore` (docs/decisions/0080). It is not in the table of
 * operations because its rows are those of the database, which change with every release.
 */
export function mountBackup(app: Hono<AppEnv>, cache: IsolateCache): void {
  const onError = () => {
    throw tooLarge(MAX_REQUEST_BYTES)
  }
  app.post('/v1/system/backup', bodyLimit({ maxSize: MAX_REQUEST_BYTES, onError }), async (c) => {
    const principal = await authenticate(c.env, cache.keys, c.req.raw, ['root'])
    await limitKey(c.env, principal, clientOf(c.env, c.req.raw.headers))
    const { success, data, error } = BackupRequest.safeParse(await readJson(c))
    if (!success) {
      const [issue] = error.issues
      throw new ApiError('invalid_request', `${issue?.path.join('.') || 'body'}: ${issue?.message}`)
    }
    // Every action may be repeated.
    const context = contextOf(c, principal, cache, openForRequest(c.env.DB, true))
    const answer = await runBackupAction(context, data)
    return new Response(JSON.stringify({ ok: true, ...answer }), { headers: JSON_HEADERS })
  })
}

import type { Context as Request } from 'hono'

import { openDatabase } from '../adapters/database.ts'
import type { Memory } from '../adapters/memory.ts'
import type { Context, Principal } from '../context.ts'
import { baseUrl } from './base_url.ts'
import type { AppEnv } from './mount.ts'

/** Somebody without a key, who has the id of a play session. */
export const LISTENER: Principal = {
  kind: 'public',
  api_key_id: '',
  organization_id: '',
  binding: null,
  variants: null,
  is_downloadable: false,
  allowed_origins: null,
}

/** What the pages for listeners may touch. */
export const listenerContext = (c: Request<AppEnv>, memory: Memory): Context => ({
  env: c.env,
  db: openDatabase(c.env.DB),
  now: Date.now(),
  principal: LISTENER,
  memory,
  forget: () => undefined,
  mayReuse: () => undefined,
  base_url: baseUrl(c.env, c.req.url),
})

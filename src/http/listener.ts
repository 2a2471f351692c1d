import type { Context as Request } from 'hono'

import { openDatabase } from '../adapters/database.ts'
import type { Memory } from '../adapters/memory.ts'
import type { Context } from '../context.ts'
import { LISTENER } from '../principal.ts'
import { baseUrl } from './base_url.ts'
import type { AppEnv } from './mount.ts'

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

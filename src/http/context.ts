import type { Database } from '../adapters/database.ts'
import type { Memory } from '../adapters/memory.ts'
import { type Context, systemOf } from '../context.ts'
import { LISTENER, type Principal } from '../principal.ts'
import { baseUrl } from './base_url.ts'

export interface AppEnv {
  Bindings: Env
  Variables: { requestId: string; principal: Principal }
}

/** What Hono's own context is to these. */
interface Request {
  env: Env
  req: { url: string }
}
type Chosen = { db?: Database } & Partial<Pick<Context, 'mayReuse'>>

/** What a request may touch. */
export const contextOf = (
  { env, req }: Request,
  principal: Principal,
  memory: Memory,
  { db, mayReuse = () => undefined }: Chosen = {},
): Context => ({
  ...systemOf(env, memory, db),
  principal,
  memory,
  base_url: baseUrl(env, req.url),
  mayReuse,
})

/** What the pages for listeners may touch. */
export const listenerContext = (request: Request, memory: Memory) => contextOf(request, LISTENER, memory)

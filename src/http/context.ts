import type { Memory } from '../adapters/memory.ts'
import { type Context, systemOf } from '../context.ts'
import type { Principal } from '../principal.ts'
import { baseUrl } from './base_url.ts'

export interface AppEnv {
  Bindings: Env
  Variables: {
    requestId: string
    principal: Principal
    /** Whose the request is, for the log, as soon as it is known. */
    organization_id: string
  }
}

/** What Hono's own context is to these. */
interface Request {
  env: Env
  req: { url: string }
}

/** What a request may touch. */
export const contextOf = <D>(
  { env, req }: Request,
  principal: Principal,
  memory: Memory,
  db: D,
  mayReuse: Context['mayReuse'] = () => undefined,
): Context<D> => ({
  ...systemOf(env, memory, db),
  principal,
  memory,
  base_url: baseUrl(env, req.url),
  mayReuse,
})

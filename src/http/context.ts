import type { IsolateCache } from '../adapters/cache/isolate_cache.ts'
import { type Context, systemOf } from '../context.ts'
import type { Principal } from '../core/principal.ts'
import { baseUrl } from './base_url.ts'

export interface AppEnv {
  Bindings: Env
  Variables: {
    requestId: string
    principal: Principal
    /** The organization of the request, for the request log. It is set as soon as it is known. */
    organization_id: string
  }
}

/** The part of Hono's context that `contextOf` uses. */
interface Request {
  env: Env
  req: { url: string; raw: globalThis.Request }
}

/** Creates the context of a request. */
export const contextOf = <D>(
  { env, req }: Request,
  principal: Principal,
  cache: IsolateCache,
  db: D,
  allowCaching: Context['allowCaching'] = () => undefined,
): Context<D> => ({
  ...systemOf(env, cache, db),
  principal,
  cache,
  base_url: baseUrl(env, req.url),
  origin: req.raw.headers.get('origin'),
  allowCaching,
})

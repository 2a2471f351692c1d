import type { IsolateCache } from './adapters/cache/isolate_cache.ts'
import type { Database } from './adapters/db/database.ts'
import type { Input, Operations, Output } from './contract/operation.ts'
import type { Principal } from './core/principal.ts'

/** Everything that background work (queues, cron) may use. */
export interface System<D = Database> {
  env: Env
  db: D
  /** Milliseconds since 1970, taken when the work starts. */
  now: number
  /** Invalidates this isolate's cached responses of an organization, after a change of anything that its listeners see. */
  invalidate: (organization_id: string) => void
  /** The caller in events: `api_key:{id}` or `root`; null for the service. */
  actor: string | null
}

/** The system for one piece of work; `now` is the time of this call. */
export const systemOf = <D>(env: Env, cache: IsolateCache, db: D): System<D> => ({
  env,
  db,
  now: Date.now(),
  invalidate: (organization_id) => cache.invalidate(organization_id),
  actor: null,
})

/** Everything a handler may use. A play view takes a bare D1 client as its database. */
export interface Context<D = Database> extends System<D> {
  principal: Principal
  cache: IsolateCache
  /** The service's public URL, without a trailing slash. */
  base_url: string
  /** Allows caching of the response, which belongs to this organization, at most until this time in milliseconds since 1970. */
  allowCaching: (organization_id: string, until: number) => void
}

/** One handler per operation. The table types its input and output, so a missing or wrong handler does not compile. */
export type Handlers<T extends Operations> = {
  [K in keyof T]: (input: Input<T[K]>, context: Context) => Promise<Output<T[K]>>
}

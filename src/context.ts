import type { IsolateCache } from './adapters/cache/isolate_cache.ts'
import type { Database } from './adapters/db/database.ts'
import type { QueryBudget } from './adapters/db/query_budget.ts'
import type { Input, Operations, Output } from './contract/operation.ts'
import type { PlayScope } from './contract/play.ts'
import type { Principal } from './core/principal.ts'
import type { FileSource } from './listening/sums/sources.ts'

/** Everything that background work (queues and cron) may use. */
export interface System<D = Database> {
  env: Env
  db: D
  /** The time when the work started, in milliseconds since 1970. */
  now: number
  /**
   * Invalidates this isolate's cached responses of an organization. It is called after any change that is visible to the organization's listeners.
   */
  invalidate: (organization_id: string) => void
  /** The actor in events: `api_key:{id}` or `root`; null for the service itself. */
  actor: string | null
  /** The queries that background work may still make. Requests have no budget, because each of them makes few queries. */
  queries?: QueryBudget
}

/** Creates the system for one piece of work. `now` is the time of this call. */
export const systemOf = <D>(env: Env, cache: IsolateCache, db: D): System<D> => ({
  env,
  db,
  now: Date.now(),
  invalidate: (organization_id) => cache.invalidate(organization_id),
  actor: null,
})

/** A download of a file of a track, or of a ZIP, whose track is null unless it is the only one. */
export interface Downloaded {
  organization_id: string
  track: string | null
  collection: string | null
  via: { scope: PlayScope; id: string; share: string | null }
  /** Set if a link to the file was used: the one in a feed, or another. */
  source?: FileSource
}

/** Everything that a handler may use. For a play view, `db` is only an object with a D1 client. */
export interface Context<D = Database> extends System<D> {
  principal: Principal
  cache: IsolateCache
  /** The service's public URL, without a trailing slash. */
  base_url: string
  /** The origin of the web page that sends the request; null if the browser or another client names none. */
  origin: string | null
  /** The seed of a request with an `Idempotency-Key` (src/adapters/crypto/seed.ts). */
  seed?: string
  /** Counts a download by a listener (docs/counting.md). */
  countDownload?: (downloaded: Downloaded) => void
  /**
   * Allows the response to be cached for this organization, at most until the given time in milliseconds since 1970. Only web pages of `origins` may then
   * read it, unless that is null.
   */
  allowCaching: (organization_id: string, until: number, origins?: string[] | null) => void
}

/**
 * The handlers of all operations, except that of listening reports (src/http/api/heard.ts). The types of their inputs and outputs come from the table of
 * operations, so a missing or wrong handler does not compile.
 */
export type Handlers<T extends Operations> = {
  [K in keyof T as T[K] extends { is_report: true } ? never : K]: (
    input: Input<T[K]>,
    context: Context,
  ) => Promise<Output<T[K]>>
}

import type { IsolateCache } from './adapters/cache/isolate_cache.ts'
import { openWithRetries } from './adapters/db/database.ts'
import { createQueryBudget, limitQueries } from './adapters/db/query_budget.ts'
import { systemOf } from './context.ts'
import { createApp } from './http/app.ts'
import { consume } from './pipeline/consume.ts'
import { sweep } from './pipeline/sweep.ts'
import { createTranscoderPort } from './pipeline/transcode/port.ts'

/** Maximum number of D1 queries in one invocation. D1 allows 1,000 (D1, Limits), and may count more than we do. */
const SWEEP_QUERIES = 700
const CONSUMER_QUERIES = 900

/**
 * Creates the part of the service that is loaded on first use: everything except play views, that is, the rest of the API, the queues and cron
 * (docs/decisions/0029).
 */
export function createService(cache: IsolateCache) {
  const app = createApp(cache)
  const system = (env: Env) => systemOf(env, cache, openWithRetries(env.DB))
  const limited = (env: Env, most: number) => {
    const queries = createQueryBudget(most)
    return { ...systemOf(env, cache, openWithRetries(limitQueries(env.DB, queries))), queries }
  }
  return {
    answer: (request: Request, env: Env, context: ExecutionContext) => app.fetch(request, env, context),
    consume: (env: Env, batch: MessageBatch) => consume(limited(env, CONSUMER_QUERIES), batch),
    sweep: (env: Env) => sweep(limited(env, SWEEP_QUERIES)),
    transcoderPort: (env: Env) => createTranscoderPort(system(env)),
  }
}

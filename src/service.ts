import type { IsolateCache } from './adapters/cache/isolate_cache.ts'
import { openWithRetries } from './adapters/db/database.ts'
import { createQueryBudget, limitQueries } from './adapters/db/query_budget.ts'
import { systemOf } from './context.ts'
import { missingSettings } from './core/configuration.ts'
import { log } from './core/log.ts'
import { createApp } from './http/app.ts'
import { consume } from './pipeline/consume.ts'
import { sweep } from './pipeline/sweep.ts'
import { createTranscoderPort } from './pipeline/transcode/port.ts'

/** Maximum number of D1 queries in one invocation. D1 allows 1,000 (D1, Limits), and may count more than we do. */
const SWEEP_QUERIES = 700
const CONSUMER_QUERIES = 900

/** Whether the Worker has all settings. Background work waits for them, because its jobs would use up their attempts. */
function isConfigured(env: Env): boolean {
  const missing = missingSettings(env)
  if (missing.length > 0) log('error', 'not_configured', { missing })
  return missing.length === 0
}

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
    consume: async (env: Env, batch: MessageBatch) =>
      isConfigured(env) ? consume(limited(env, CONSUMER_QUERIES), batch) : batch.retryAll({ delaySeconds: 60 }),
    sweep: async (env: Env) => {
      if (isConfigured(env)) await sweep(limited(env, SWEEP_QUERIES))
    },
    transcoderPort: (env: Env) => createTranscoderPort(system(env)),
  }
}

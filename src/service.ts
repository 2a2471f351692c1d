import type { IsolateCache } from './adapters/cache/isolate_cache.ts'
import { openWithRetries } from './adapters/db/database.ts'
import { createQueryBudget, limitQueries } from './adapters/db/query_budget.ts'
import { consume } from './background/consume.ts'
import { sweep } from './background/sweep.ts'
import { createTranscoderPort } from './background/transcode/port.ts'
import { systemOf } from './context.ts'
import { missingSettingsError } from './core/configuration.ts'
import { log } from './core/log.ts'
import { missingSettings } from './core/required_settings.ts'
import { errorResponse } from './http/answer.ts'
import { createApp } from './http/app.ts'

/** Maximum number of D1 queries in one invocation. D1 allows 1,000 (D1, Limits), and may count more than we do. */
const SWEEP_QUERIES = 700
const CONSUMER_QUERIES = 900

/** The bindings that have all settings. Every request of an isolate gets the same object. */
let complete: Env | undefined

/**
 * Returns the names of the settings that the Worker lacks, and logs them. Background work waits for them, because its jobs would use up their
 * attempts. Requests are rejected, because without a setting some would fail, and others would sign with the text `undefined`.
 */
function settingsToWaitFor(env: Env): string[] {
  if (env === complete) return []
  const missing = missingSettings(env)
  if (missing.length === 0) complete = env
  else log('error', 'not_configured', { missing })
  return missing
}

/** Whether a request is answered without all settings: the operator can read which are missing. */
function isAnsweredAnyway({ method, url }: Request, { ROOT_KEY }: Env): boolean {
  const { pathname } = new URL(url)
  const isOperator = Boolean(ROOT_KEY) && method === 'GET' && pathname.startsWith('/v1/system')
  return method === 'OPTIONS' || pathname === '/health' || isOperator
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
    answer(request: Request, env: Env, context: ExecutionContext) {
      const missing = settingsToWaitFor(env)
      return missing.length === 0 || isAnsweredAnyway(request, env)
        ? app.fetch(request, env, context)
        : errorResponse(missingSettingsError(missing), env, request, crypto.randomUUID())
    },
    consume: async (env: Env, batch: MessageBatch) =>
      settingsToWaitFor(env).length === 0
        ? consume(limited(env, CONSUMER_QUERIES), batch)
        : batch.retryAll({ delaySeconds: 60 }),
    sweep: async (env: Env) => {
      if (settingsToWaitFor(env).length === 0) await sweep(limited(env, SWEEP_QUERIES))
    },
    transcoderPort: (env: Env) => createTranscoderPort(system(env)),
  }
}

import type { IsolateCache } from './adapters/cache/isolate_cache.ts'
import { openWithRetries } from './adapters/db/database.ts'
import { systemOf } from './context.ts'
import { createApp } from './http/app.ts'
import { consume } from './pipeline/consume.ts'
import { sweep } from './pipeline/sweep.ts'
import { createTranscoderPort } from './pipeline/transcode/port.ts'

/**
 * Creates the part of the service that is loaded on first use: everything except play views, that is, the rest of the API, the queues and cron
 * (docs/decisions/0029).
 */
export function createService(cache: IsolateCache) {
  const app = createApp(cache)
  const system = (env: Env) => systemOf(env, cache, openWithRetries(env.DB))
  return {
    answer: (request: Request, env: Env, context: ExecutionContext) => app.fetch(request, env, context),
    consume: (env: Env, batch: MessageBatch) => consume(system(env), batch),
    sweep: (env: Env) => sweep(system(env)),
    transcoderPort: (env: Env) => createTranscoderPort(system(env)),
  }
}

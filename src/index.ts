import { createIsolateCache } from './adapters/memory.ts'
import { answerPlayView } from './http/play_view.ts'
import { serveCached } from './http/reuse.ts'
import type { createService } from './others.ts'
import { TranscodeFollower } from './pipeline/transcode/follower.ts'

const cache = createIsolateCache()
let service: ReturnType<typeof createService> | undefined
const load = async () => (service ??= (await import('./others.ts')).createService(cache))

/** wrangler.toml names this class and its container. */
export class TranscoderContainer extends TranscodeFollower {
  override async open() {
    return (await load()).transcoderPort(this.env)
  }
}

export default {
  fetch: (request: Request, env: Env, context: ExecutionContext) =>
    serveCached(
      cache,
      request,
      env,
      async () => answerPlayView(cache, request, env) ?? (await load()).answer(request, env, context),
    ),
  queue: async (batch, env) => (await load()).consume(env, batch),
  scheduled: async (_event, env) => (await load()).sweep(env),
} satisfies ExportedHandler<Env>

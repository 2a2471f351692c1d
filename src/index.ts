import { createIsolateCache } from './adapters/cache/isolate_cache.ts'
import { TranscodeFollower } from './background/transcode/follower.ts'
import { securityHeaders } from './http/answer.ts'
import { answerFirst } from './http/first_requests.ts'
import { serveCached } from './http/listen/response_cache.ts'
import { ListeningObject } from './listening/object.ts'
import type { createService } from './service.ts'

const cache = createIsolateCache()
let service: ReturnType<typeof createService> | undefined
const load = async () => (service ??= (await import('./service.ts')).createService(cache))

/** The Durable Object with the transcoder's container. wrangler.toml refers to it by the name of this class. */
export class TranscoderContainer extends TranscodeFollower {
  override async open() {
    return (await load()).transcoderPort(this.env)
  }
}

/** The Durable Object that keeps an organization's listening statistics. */
export class Listening extends ListeningObject {}

export default {
  fetch: (request: Request, env: Env, context: ExecutionContext) =>
    serveCached(cache, request, env, async () => {
      const response = await (answerFirst(cache, request, env, context) ?? (await load()).answer(request, env, context))
      for (const [name, value] of Object.entries(securityHeaders(request.url))) response.headers.set(name, value)
      return response
    }),
  queue: async (batch, env) => (await load()).consume(env, batch),
  scheduled: async (_event, env) => (await load()).sweep(env),
} satisfies ExportedHandler<Env>

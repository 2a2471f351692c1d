import { createIsolateCache } from './adapters/cache/isolate_cache.ts'
import { answerFirst } from './http/first_requests.ts'
import { serveCached } from './http/listen/response_cache.ts'
import { TranscodeFollower } from './pipeline/transcode/follower.ts'
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

/** Adds the headers that all responses have. Strict-Transport-Security must not be sent without TLS (RFC 6797 §7.2). */
async function secured({ url }: Request, answer: Response | Promise<Response>): Promise<Response> {
  const response = await answer
  response.headers.set('x-content-type-options', 'nosniff')
  if (url.startsWith('https:')) response.headers.set('strict-transport-security', 'max-age=31536000')
  return response
}

export default {
  fetch: (request: Request, env: Env, context: ExecutionContext) =>
    secured(
      request,
      serveCached(
        cache,
        request,
        env,
        async () => answerFirst(cache, request, env) ?? (await load()).answer(request, env, context),
      ),
    ),
  queue: async (batch, env) => (await load()).consume(env, batch),
  scheduled: async (_event, env) => (await load()).sweep(env),
} satisfies ExportedHandler<Env>

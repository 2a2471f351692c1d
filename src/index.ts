import { createMemory } from './adapters/memory.ts'
import { answerPlayView } from './http/play_view.ts'
import { answerAgain } from './http/reuse.ts'
import type { createOthers } from './others.ts'
import { TranscodeFollower } from './pipeline/transcode/follower.ts'

const memory = createMemory()
let service: ReturnType<typeof createOthers> | undefined
const load = async () => (service ??= (await import('./others.ts')).createOthers(memory))

/** wrangler.toml names this class and its container. */
export class TranscoderContainer extends TranscodeFollower {
  override async open() {
    return (await load()).transcoderPort(this.env)
  }
}

export default {
  fetch: (request: Request, env: Env, context: ExecutionContext) =>
    answerAgain(
      memory,
      request,
      env,
      async () => answerPlayView(memory, request, env) ?? (await load()).answer(request, env, context),
    ),
  queue: async (batch, env) => (await load()).consume(env, batch),
  scheduled: async (_event, env) => (await load()).sweep(env),
} satisfies ExportedHandler<Env>

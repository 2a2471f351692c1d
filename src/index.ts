import { createMemory } from './adapters/memory.ts'
import { systemOf } from './context.ts'
import { createApp } from './http/app.ts'
import { answerAgain } from './http/reuse.ts'
import { consume } from './pipeline/consume.ts'
import { sweep } from './pipeline/sweep.ts'

export { TranscoderContainer } from './adapters/transcoder.ts'

const memory = createMemory()
const app = createApp(memory)

export default {
  fetch: (request: Request, env: Env, context: ExecutionContext) =>
    answerAgain(memory, request, env, () => app.fetch(request, env, context)),
  queue: (batch, env) => consume(systemOf(env, memory), batch),
  scheduled: (_event, env) => sweep(systemOf(env, memory)),
} satisfies ExportedHandler<Env>

import { openDatabase } from './adapters/database.ts'
import { createMemory } from './adapters/memory.ts'
import type { System } from './context.ts'
import { createApp } from './http/app.ts'
import { answerAgain } from './http/reuse.ts'
import { consume } from './pipeline/consume.ts'
import { sweep } from './pipeline/sweep.ts'

export { TranscoderContainer } from './adapters/transcoder.ts'

const memory = createMemory()
const app = createApp(memory)
const forget = (organization_id: string) => memory.forget(organization_id)
const system = (env: Env): System => ({ env, db: openDatabase(env.DB), now: Date.now(), forget })

export default {
  fetch: (request: Request, env: Env, context: ExecutionContext) =>
    answerAgain(memory, request, env, () => app.fetch(request, env, context)),
  queue: (batch, env) => consume(system(env), batch),
  scheduled: (_event, env) => sweep(system(env)),
} satisfies ExportedHandler<Env>

import { openDatabase } from './adapters/database.ts'
import type { System } from './context.ts'
import { createApp } from './http/app.ts'
import { consume } from './pipeline/consume.ts'
import { sweep } from './pipeline/sweep.ts'

export { TranscoderContainer } from './adapters/transcoder.ts'

const app = createApp()
const system = (env: Env): System => ({ env, db: openDatabase(env.DB), now: Date.now() })

export default {
  fetch: app.fetch,
  queue: (batch, env) => consume(system(env), batch),
  scheduled: (_event, env) => sweep(system(env)),
} satisfies ExportedHandler<Env>

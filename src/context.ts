import { type Database, openDatabase } from './adapters/database.ts'
import type { Memory } from './adapters/memory.ts'
import type { Input, Operations, Output } from './contract/operation.ts'
import type { Principal } from './principal.ts'

/** Everything that work on behalf of nobody in particular (queues, cron) may touch. */
export interface System {
  env: Env
  db: Database
  /** Milliseconds since 1970, taken when the work began. */
  now: number
  /** After a change of what an organization's listeners see: this isolate gives no older answer from here on. */
  forget: (organization_id: string) => void
}

/** As it is when the work begins. */
export const systemOf = (env: Env, memory: Memory, db = openDatabase(env.DB)): System => ({
  env,
  db,
  now: Date.now(),
  forget: (organization_id) => memory.forget(organization_id),
})

/** Everything a handler may touch. */
export interface Context extends System {
  principal: Principal
  memory: Memory
  /** Where this service is reached from outside, without a slash at the end. */
  base_url: string
  /** Says that the answer, which is an organization's, may be given again, in milliseconds since 1970 at most until then. */
  mayReuse: (organization_id: string, until: number) => void
}

/** One handler per operation, its input and output typed by the table: a missing or misshapen one does not compile. */
export type Handlers<T extends Operations> = {
  [K in keyof T]: (input: Input<T[K]>, context: Context) => Promise<Output<T[K]>>
}

import type { Database } from './adapters/database.ts'
import type { Memory } from './adapters/memory.ts'
import type { Input, Operations, Output } from './contract/operation.ts'
import type { Principal } from './principal.ts'

/** Everything that work on behalf of nobody in particular (queues, cron) may touch. */
export interface System<D = Database> {
  env: Env
  db: D
  /** Milliseconds since 1970, taken when the work began. */
  now: number
  /** After a change of what an organization's listeners see: this isolate gives no older answer from here on. */
  forget: (organization_id: string) => void
  /** Who does it, for events: `api_key:{id}` or `root`; null: the service. */
  actor: string | null
}

/** As it is when the work begins. */
export const systemOf = <D>(env: Env, memory: Memory, db: D): System<D> => ({
  env,
  db,
  now: Date.now(),
  forget: (organization_id) => memory.forget(organization_id),
  actor: null,
})

/** Everything a handler may touch; what a play view needs of the database is no more than its client. */
export interface Context<D = Database> extends System<D> {
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

import worker, { Listening as RealListening, TranscoderContainer as RealContainer } from '../../../src/index.ts'
import { atRate, faultyDatabase } from './faulty_database.ts'

/**
 * The Worker with a database in which a fraction `D1_FAULT_RATE` of the calls fails, half of them after their execution. `npm run chaos` starts it.
 */

let faulty: Env | undefined
const withFaults = (env: Cloudflare.Env): Env =>
  (faulty ??= { ...env, DB: faultyDatabase(env.DB, atRate(Number(env.D1_FAULT_RATE), Date.now())) })

export class TranscoderContainer extends RealContainer {
  constructor(context: DurableObjectState, env: Cloudflare.Env) {
    super(context, withFaults(env))
  }
}

export class Listening extends RealListening {
  constructor(context: DurableObjectState, env: Cloudflare.Env) {
    super(context, withFaults(env))
  }
}

export default {
  fetch: (request, env, context) => worker.fetch(request, withFaults(env), context),
  queue: (batch, env) => worker.queue(batch, withFaults(env)),
  scheduled: (event, env) => worker.scheduled(event, withFaults(env)),
} satisfies ExportedHandler<Cloudflare.Env>

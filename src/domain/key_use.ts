import { describeError } from '../core/errors.ts'
import { log } from '../core/log.ts'

/** Maximum difference in milliseconds between `last_used_at` and the last use of a key. */
const PRECISION = 10 * 60_000

export interface KeyUse {
  api_key_id: string
  used_at: number
}

/** Queues the update of a key's `last_used_at`, so that authentication never writes to the database. */
export async function queueKeyUse(env: Env, key: { id: string; last_used_at: number | null }): Promise<void> {
  const used_at = Date.now()
  if (key.last_used_at !== null && used_at - key.last_used_at < PRECISION) return
  try {
    await env.TASK_QUEUE.send({ api_key_id: key.id, used_at } satisfies KeyUse)
  } catch (error) {
    log('error', 'key_use_lost', { error: describeError(error) })
  }
}

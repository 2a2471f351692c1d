import { and, eq, isNull, lt, or, type SQL } from 'drizzle-orm'

import { unseal, seal } from '../adapters/crypto/seal.ts'
import { sha256 } from '../adapters/crypto/secret.ts'
import { idempotencyKeys } from '../adapters/db/schema/work.ts'
import type { Context } from '../context.ts'
import { ApiError, describeError, invalid } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { type StoredResponse, storablePart, renewAnswer, type RepeatedRequest } from './replay.ts'

/** Milliseconds for which a response is stored. */
export const RESPONSE_TTL = 24 * 3600 * 1000
/** Milliseconds after which a request that has not ended is considered dead. From then on, a repeated request may run in its place. */
const ABANDONED_AFTER = 60_000

/**
 * Runs a POST request only once per API key and `Idempotency-Key` (docs/architecture.md#repeated-requests). A repeated request gets the first
 * response, a different request with the same key gets 422, and a concurrent one gets 409. A failed request may be retried with the same key.
 */
export async function runIdempotent(
  context: Context,
  key: string,
  request: string,
  input: RepeatedRequest,
  run: () => Promise<StoredResponse>,
): Promise<{ answer: StoredResponse; replayed: boolean }> {
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw invalid('idempotency-key', 'must be 1 to 255 printable ASCII characters')
  const { db, env, now, principal } = context
  const id = await sha256(`${principal.kind === 'public' ? '' : principal.api_key_id}\n${key}`)
  // The request is hashed with a secret, because its body may contain a password that could be guessed from a plain hash. After the secret has
  // changed, a repeated request looks like a different one, so it is rejected and does not run twice.
  const request_hash = await sha256(`${env.SIGNING_SECRET}\n${request}`)
  const row = { id, request_hash, response: null, created_at: now }
  const stale = or(
    lt(idempotencyKeys.created_at, now - RESPONSE_TTL),
    and(isNull(idempotencyKeys.response), lt(idempotencyKeys.created_at, now - ABANDONED_AFTER)),
  )
  const [reserved] = await db
    .insert(idempotencyKeys)
    .values(row)
    .onConflictDoUpdate({ target: idempotencyKeys.id, set: row, setWhere: stale })
    .returning()
  if (!reserved) {
    const first = await db.select().from(idempotencyKeys).where(eq(idempotencyKeys.id, id)).get()
    if (first && first.request_hash !== request_hash) {
      const message = 'This Idempotency-Key was used with another request, or under another SIGNING_SECRET'
      throw new ApiError('idempotency_key_reused', message)
    }
    if (!first?.response) {
      const message = 'The first request with this Idempotency-Key is still running'
      throw new ApiError('request_in_flight', message, undefined, { 'retry-after': '1' })
    }
    const answer = JSON.parse(await unseal(env.SIGNING_SECRET, id, first.response)) as StoredResponse
    return { answer: await renewAnswer(answer, input, context), replayed: true }
  }
  const isReservation = and(eq(idempotencyKeys.id, id), eq(idempotencyKeys.created_at, now))
  const answer = await run().catch(async (error: unknown) => {
    await db.delete(idempotencyKeys).where(and(isReservation, isNull(idempotencyKeys.response)))
    throw error
  })
  // The request has been executed, so its response is returned even if storing the response fails.
  await storeAnswer(context, id, isReservation, answer)
  return { answer, replayed: false }
}

async function storeAnswer(
  { db, env }: Context,
  id: string,
  isReservation: SQL | undefined,
  answer: StoredResponse,
): Promise<void> {
  try {
    const sealed = await seal(env.SIGNING_SECRET, id, JSON.stringify(storablePart(answer)))
    await db.update(idempotencyKeys).set({ response: sealed }).where(isReservation)
  } catch (error) {
    log('error', 'answer_not_kept', { error: describeError(error) })
  }
}

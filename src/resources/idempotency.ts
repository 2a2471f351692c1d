import { and, eq, isNull, lt, or, type SQL, sql } from 'drizzle-orm'

import { unseal, seal } from '../adapters/crypto/seal.ts'
import { sha256 } from '../adapters/crypto/secret.ts'
import { newSeed } from '../adapters/crypto/seed.ts'
import { type Database, openForRequest } from '../adapters/db/database.ts'
import { isTransientError } from '../adapters/db/retry.ts'
import { idempotencyKeys } from '../adapters/db/schema/work.ts'
import type { Context } from '../context.ts'
import { DAY } from '../contract/time.ts'
import { ApiError, describeError, invalid } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { type StoredResponse, storablePart, renewAnswer, type RepeatedRequest } from './replay.ts'

/** Milliseconds for which a response is stored. */
export const RESPONSE_TTL = DAY
/** Milliseconds after which a request that has not ended is considered dead. From then on, a repeated request may run in its place. */
const ABANDONED_AFTER = 60_000

/**
 * Runs a POST request only once per API key and `Idempotency-Key` (docs/architecture.md#repeated-requests). A repeated request gets the first
 * response, a different request with the same key gets 422, and a concurrent one gets 409. A failed request may be retried with the same key. If the
 * first attempt may have taken effect, the next one gets its seed, so that it creates nothing twice (docs/decisions/0075).
 */
export async function runIdempotent(
  context: Context,
  key: string,
  request: string,
  input: RepeatedRequest,
  run: (seed: string) => Promise<StoredResponse>,
): Promise<{ answer: StoredResponse; replayed: boolean }> {
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw invalid('idempotency-key', 'must be 1 to 255 printable ASCII characters')
  const { env, now, principal } = context
  // Every statement in this file is idempotent, because it names the attempt.
  const db = openForRequest(env.DB, true)
  const id = await sha256(`${principal.kind === 'public' ? '' : principal.api_key_id}\n${key}`)
  // The request is hashed with a secret, because its body may contain a password that could be guessed from a plain hash. After the secret has
  // changed, a repeated request looks like a different one, so it is rejected and does not run twice.
  const request_hash = await sha256(`${env.SIGNING_SECRET}\n${request}`)
  const row = { id, request_hash, response: null, holder: crypto.randomUUID(), created_at: now }
  const isExpired = lt(idempotencyKeys.created_at, now - RESPONSE_TTL)
  const isSameRequest = eq(idempotencyKeys.request_hash, request_hash)
  const isAbandoned = and(
    isNull(idempotencyKeys.response),
    or(
      lt(idempotencyKeys.created_at, now - ABANDONED_AFTER),
      eq(idempotencyKeys.holder, row.holder),
      and(eq(idempotencyKeys.holder, ''), isSameRequest),
    ),
  )
  const seed = newSeed()
  // The earlier attempt may have created something, so the next attempt of the same request continues with its seed.
  const nextSeed = sql`iif(${isExpired} or not (${isSameRequest}), ${seed}, ${idempotencyKeys.seed})`
  const [reserved] = await db
    .insert(idempotencyKeys)
    .values({ ...row, seed })
    .onConflictDoUpdate({
      target: idempotencyKeys.id,
      set: { ...row, seed: nextSeed },
      setWhere: or(isExpired, isAbandoned),
    })
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
  const isReservation = and(eq(idempotencyKeys.id, id), eq(idempotencyKeys.holder, row.holder))
  const answer = await run(await sha256(`${env.SIGNING_SECRET}\n${id}\n${reserved.seed}`)).catch(
    async (error: unknown) => {
      const release = isTransientError(error)
        ? db.update(idempotencyKeys).set({ holder: '' }).where(isReservation)
        : db.delete(idempotencyKeys).where(and(isReservation, isNull(idempotencyKeys.response)))
      // If this fails, the reservation ends by itself.
      await release.run().catch(logFailure)
      throw error
    },
  )
  // The request has been executed, so its response is returned even if storing the response fails.
  await storeAnswer(db, env, id, isReservation, answer)
  return { answer, replayed: false }
}

const logFailure = (error: unknown) => log('error', 'answer_not_kept', { error: describeError(error) })

async function storeAnswer(
  db: Database,
  env: Env,
  id: string,
  isReservation: SQL | undefined,
  answer: StoredResponse,
): Promise<void> {
  try {
    const sealed = await seal(env.SIGNING_SECRET, id, JSON.stringify(storablePart(answer)))
    await db.update(idempotencyKeys).set({ response: sealed }).where(isReservation)
  } catch (error) {
    logFailure(error)
  }
}

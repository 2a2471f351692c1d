import { deadline } from './deadline.ts'
import { isPassing, noAnswer, readFailure } from './failure.ts'
import { pause } from './pause.ts'

const RETRIES = 2
const FIRST_DELAY = 300
/** The service answers sooner, or not at all. */
const PATIENCE = 60_000
/** Longest `Retry-After` that is waited for, in milliseconds; a longer one is the caller's to decide. */
const LONGEST_DELAY = 5000

type Send = (signal: AbortSignal) => Promise<Response>

/** Sends a request and reads its answer; again when it was not carried out, or may be carried out twice. */
export async function withRetries(send: Send, repeatable: boolean, signal?: AbortSignal) {
  for (let attempt = 0; ; attempt++) {
    const { result, retryIn } = await once(send, repeatable, attempt, signal)
    if (retryIn === null || attempt === RETRIES || retryIn > LONGEST_DELAY) return result
    await pause(retryIn, signal)
    if (signal?.aborted) return noAnswer(true)
  }
}

async function once(send: Send, repeatable: boolean, attempt: number, signal?: AbortSignal) {
  const delay = FIRST_DELAY * 2 ** attempt * (0.75 + Math.random() / 2)
  const limit = deadline(PATIENCE, signal)
  try {
    const response = await send(limit.signal)
    const answer: unknown = await response.json().catch(() => undefined)
    if (response.ok && answer !== undefined) return { result: answer, retryIn: null }
    // An answer that broke off says no more than none.
    if (response.ok || signal?.aborted) return unanswered()
    const { status } = response
    const retryAfter = Number(response.headers.get('retry-after')) * 1000 || delay
    const result = readFailure(status, answer)
    // 429 and 503 were not carried out; another fault of the server may have been. A POST in flight answers 409 with Retry-After.
    const refused = status === 429 || status === 503 || (status === 409 && response.headers.has('retry-after'))
    return { result, retryIn: refused ? retryAfter : isPassing(result) && repeatable ? delay : null }
  } catch {
    return unanswered()
  } finally {
    limit.end()
  }

  function unanswered() {
    const aborted = signal?.aborted ?? false
    return { result: noAnswer(aborted), retryIn: repeatable && !aborted ? delay : null }
  }
}

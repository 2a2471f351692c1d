import { isPassing, noAnswer, readFailure } from './failure.ts'
import { backoff, type Backoff, deadline, retry } from './retry.ts'
import type { Method, OperationAt, Path, Rest, Result } from './types.ts'

export interface ClientOptions {
  /** Where the service is, e.g. `https://audio.example.com`. */
  base_url: string
  /** Not needed for play views. */
  api_key?: string
  fetch?: typeof fetch
}

type Call<M extends Method> = <const P extends Path<M>>(
  path: P,
  ...rest: Rest<OperationAt<M, P>>
) => Promise<Result<OperationAt<M, P>>>

/** One function per HTTP method, typed by path: `client.get('/v1/track/{track_id}', { params: { track_id } })`. */
export type Client = { [M in Method]: Call<M> }

interface LooseOptions {
  params?: Record<string, string>
  query?: Record<string, unknown>
  headers?: Record<string, string>
  body?: unknown
  signal?: AbortSignal
  idempotency_key?: string
}

/**
 * A client that never throws: it answers `{ok: true, …}` or `{ok: false, message, code, status}`. Calls that can safely be repeated are
 * repeated twice when the network or the service fails: every POST carries an `Idempotency-Key`.
 */
export function createClient(options: ClientOptions): Client {
  const base = options.base_url.replace(/\/+$/, '')
  const send = options.fetch ?? ((input, init) => fetch(input, init))

  function call(method: Method, path: string, { params, query, body, signal, ...rest }: LooseOptions = {}) {
    const place = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params?.[name] ?? ''))
    const asked = new URLSearchParams()
    for (const [name, value] of Object.entries(query ?? {})) {
      // oxlint-disable-next-line typescript/no-base-to-string -- the types let only text, numbers and booleans in
      if (value !== undefined) asked.set(name, String(value))
    }
    // `new URL` would throw at a `base_url` that is none; `fetch` fails as any call may.
    const url = [base + place, asked.toString()].filter(Boolean).join('?')
    const headers: Record<string, string> = { ...rest.headers }
    if (options.api_key) headers.authorization = `Bearer ${options.api_key}`
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (method === 'post') headers['idempotency-key'] = rest.idempotency_key ?? randomKey()
    const init: RequestInit = {
      method: method.toUpperCase(),
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    }
    // A delete or a conditional change that was carried out unseen would answer 404 or 412 the second time.
    const repeatable = method !== 'delete' && !('if-match' in headers)
    return request((signal) => send(url, { ...init, signal }), repeatable, signal)
  }

  const calls = (method: Method) => (path: string, rest?: LooseOptions) => call(method, path, rest)
  // The types come from the operation table; at run time a method and a path are all there is to know.
  return { get: calls('get'), post: calls('post'), put: calls('put'), delete: calls('delete') } as unknown as Client
}

/** A random `Idempotency-Key`, also on pages without https, where browsers have no `crypto.randomUUID`. */
export const randomKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

const RETRIES = 2
const DELAYS: Backoff = { first: 300, factor: 2, longest: 5000, jitter: 0.25 }
/** Milliseconds; the service answers sooner, or not at all. */
const REQUEST_TIMEOUT = 60_000
/** Longest `Retry-After` that is waited for, in milliseconds; a longer one is the caller's to decide. */
const LONGEST_RETRY_AFTER = 5000

type Send = (signal: AbortSignal) => Promise<Response>

/** Sends a request and reads its answer; again when it was not carried out, or may be carried out twice. */
async function request(send: Send, repeatable: boolean, signal?: AbortSignal) {
  const { result } = await retry(
    (attempt) => once(send, repeatable, attempt, signal),
    ({ retryIn }, attempt) =>
      retryIn === null || attempt === RETRIES || retryIn > LONGEST_RETRY_AFTER ? null : retryIn,
    signal,
  )
  return signal?.aborted && !(result as { ok?: boolean }).ok ? noAnswer(true) : result
}

async function once(send: Send, repeatable: boolean, attempt: number, signal?: AbortSignal) {
  const delay = backoff(attempt, DELAYS)
  const limit = deadline(REQUEST_TIMEOUT, signal)
  try {
    const response = await send(limit.signal)
    const answer: unknown = await response.json().catch(() => undefined)
    if (response.ok && answer !== undefined) return { result: answer, retryIn: null }
    // An answer that broke off is as good as none.
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

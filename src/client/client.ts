import { withRetries } from './retry.ts'
import { newTicket } from './ticket.ts'
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
    if (method === 'post') headers['idempotency-key'] = rest.idempotency_key ?? newTicket()
    const init: RequestInit = {
      method: method.toUpperCase(),
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    }
    // A delete or a conditional change that was carried out unseen would answer 404 or 412 the second time.
    const repeatable = method !== 'delete' && !('if-match' in headers)
    return withRetries((signal) => send(url, { ...init, signal }), repeatable, signal)
  }

  const calls = (method: Method) => (path: string, rest?: LooseOptions) => call(method, path, rest)
  // The types come from the operation table; at run time a method and a path are all there is to know.
  return { get: calls('get'), post: calls('post'), put: calls('put'), delete: calls('delete') } as unknown as Client
}

import { noAnswer, readFailure } from './failure.ts'
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
  query?: Record<string, string | number | undefined>
  body?: unknown
  signal?: AbortSignal
}

/** A client that never throws: it answers `{ok: true, …}` or `{ok: false, message, code, status}`. */
export function createClient(options: ClientOptions): Client {
  const base = options.base_url.replace(/\/+$/, '')
  const send = options.fetch ?? ((input, init) => fetch(input, init))

  async function call(method: Method, path: string, { params, query, body, signal }: LooseOptions = {}) {
    const url = new URL(
      base + path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params?.[name] ?? '')),
    )
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    const headers: Record<string, string> = {}
    if (options.api_key) headers.authorization = `Bearer ${options.api_key}`
    if (body !== undefined) headers['content-type'] = 'application/json'
    try {
      const response = await send(url.href, {
        method: method.toUpperCase(),
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        signal: signal ?? null,
      })
      const answer: unknown = await response.json().catch(() => undefined)
      return response.ok && answer !== undefined ? answer : readFailure(response.status, answer)
    } catch {
      return noAnswer(signal?.aborted ?? false)
    }
  }

  const calls = (method: Method) => (path: string, rest?: LooseOptions) => call(method, path, rest)
  // The types come from the operation table; at run time a method and a path are all there is to know.
  return { get: calls('get'), post: calls('post'), put: calls('put'), delete: calls('delete') } as unknown as Client
}

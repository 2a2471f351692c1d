import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import { JSON_HEADERS, securityHeaders } from '../answer.ts'
import { clientOf, mayRead } from '../auth/limit_rate.ts'
import { isCachedUrl } from './views_query.ts'

/**
 * Serves cached responses before any other code handles the request (docs/decisions/0028). The cache key is the public base URL and the URL of the
 * request. Responses to URLs with a query are never cached, except for the play views of a session.
 */

const PREFIX = '{"ok":true,"api_request_id":"'
const ID_LENGTH = 36

/** The headers of all cached responses. workerd copies a `Headers` object in 3.9 µs, and converts a plain object in 6.1 µs. */
const headersOf = (url: string) => new Headers({ ...JSON_HEADERS, ...securityHeaders(url) })
const PLAIN = headersOf('http:')
const SECURE = headersOf('https:')

const keyOf = (url: string, env: Env) => `${env.PUBLIC_BASE_URL} ${url}`

/** Stores the text of a response to an operation with `reuse`. */
export function storeResponse(
  cache: IsolateCache,
  { url }: Request,
  env: Env,
  text: string,
  answer: { organization_id: string; secret: string; times: number; until: number; origins: string[] | null },
): void {
  if (env.REUSE_ANSWERS !== 'true' || !isCachedUrl(url) || !text.startsWith(PREFIX)) return
  const suffix = text.slice(PREFIX.length + ID_LENGTH)
  const { organization_id, secret, times, until, origins } = answer
  const bytes = 2 * (suffix.length + url.length)
  cache.responses.set(keyOf(url, env), { suffix, secret, times, origins }, { organization_id, bytes, until })
}

/** Responds with the cached response, or calls `load` if no response is cached. */
export function serveCached(
  cache: IsolateCache,
  request: Request,
  env: Env,
  load: () => Response | Promise<Response>,
): Response | Promise<Response> {
  const { method } = request
  if (env.REUSE_ANSWERS !== 'true' || (method !== 'GET' && method !== 'HEAD')) return load()
  const { url } = request
  const cached = cache.responses.get(keyOf(url, env), Date.now())
  if (!cached) return load()
  const origin = cached.origins && request.headers.get('origin')
  // The service's own origin is allowed too, which is checked when the response is built.
  if (origin && !cached.origins?.includes(origin)) return load()
  // If the client exceeds the rate limit, the app handles the request and responds with 429.
  return mayRead(env, cached.secret, clientOf(env, request.headers), cached.times).then((isAllowed) => {
    if (!isAllowed) return load()
    const text = method === 'HEAD' ? null : PREFIX + crypto.randomUUID() + cached.suffix
    return new Response(text, { headers: url.startsWith('https:') ? SECURE : PLAIN })
  }, load)
}

import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import { MINUTE } from '../../contract/time.ts'
import { ApiError } from '../../core/errors.ts'

/**
 * Rate limits: clients that call too often get a 429 (wrangler.toml has the numbers). A client is identified by its IP address, so a single listener
 * or page cannot block the others. All clients of a key or play session also share a limit that is a hundred times higher. Cloudflare counts
 * separately in each location, and only approximately.
 */

/**
 * Returns the address of the caller. For IPv6, it is the network (the first 64 bits), because one caller owns all addresses in it. If no header
 * is trusted, all callers count as one, because a caller could send any address. The address is empty if the request lacks the trusted header.
 */
export function clientOf({ CLIENT_IP_HEADER }: Env, headers: Headers): string {
  const [head = '', tail] = (CLIENT_IP_HEADER ? (headers.get(CLIENT_IP_HEADER) ?? '') : 'any').split('::')
  const groups = head.split(':')
  if (tail !== undefined) {
    const tailGroups = tail.split(':')
    while (groups.length + tailGroups.length < 8) groups.push('0')
    groups.push(...tailGroups)
  }
  return groups.slice(0, 4).join(':')
}

/** Returns the address of the caller like `clientOf`; empty if it is not known, because no header is trusted or the trusted one is missing. */
export const addressOf = (env: Env, headers: Headers): string => (env.CLIENT_IP_HEADER ? clientOf(env, headers) : '')

/** Counts `times` requests. Returns false if one of them exceeds the limit; the following ones are not counted. */
async function count(limit: RateLimit, key: string, times: number): Promise<boolean> {
  for (let counted = 0; counted < times; counted++) if (!(await limit.limit({ key })).success) return false
  return true
}

/** Returns the part of a play session's id by which its requests are counted: of a signed token, only its signature. */
export const countedPart = (id: string) => id.slice(id.lastIndexOf('.') + 1)

/**
 * Counts a request that reads with the id of a play session or another secret. A response with several play views counts like a request for each of
 * them (`times`). Returns false if the client exceeds the limit.
 */
export const mayRead = (env: Env, secret: string, client: string, times = 1): Promise<boolean> =>
  count(env.PLAY_RATE_LIMIT, `${secret} ${client}`, times)

/** The statuses of guesses: an unknown id, or a token with a wrong signature. */
const MISSES = [401, 404]

/** Uses a secret for a client. A client that tries many unknown secrets is blocked for a minute. */
export async function limitMisses<T>(
  env: Env,
  { blockedClients }: IsolateCache,
  client: string,
  use: () => Promise<T>,
): Promise<T> {
  if (blockedClients.get(client, Date.now())) throw tooMany()
  try {
    return await use()
  } catch (error) {
    if (client && error instanceof ApiError && MISSES.includes(error.status)) {
      const { success } = await env.MISS_RATE_LIMIT.limit({ key: client })
      if (!success) blockedClients.set(client, true, { organization_id: '', bytes: 100, until: Date.now() + MINUTE })
    }
    throw error
  }
}

/** Reads a resource for a caller who has its secret. The response counts as so many requests as `timesOf` returns. */
export function limitReading<T>(
  { env, req }: { env: Env; req: { raw: Request } },
  cache: IsolateCache,
  secret: string,
  read: () => Promise<T>,
  timesOf: (answer: T) => number = () => 1,
): Promise<T> {
  const client = clientOf(env, req.raw.headers)
  // Refused requests do not count toward the shared limit, because otherwise one client could exhaust it.
  const limit = async (times: number) => {
    if (!(await mayRead(env, secret, client, times)) || !(await count(env.AUDIENCE_RATE_LIMIT, secret, times)))
      throw tooMany()
  }
  return limitMisses(env, cache, client, async () => {
    await limit(1)
    const answer = await read()
    await limit(timesOf(answer) - 1)
    return answer
  })
}

/** Returns the 429 for a client that calls too often. */
export const tooMany = () =>
  new ApiError('rate_limited', 'Too many requests; try again in a minute', undefined, { 'retry-after': '60' })

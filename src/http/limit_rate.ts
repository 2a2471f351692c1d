import type { Memory } from '../adapters/memory.ts'
import { ApiError } from '../errors.ts'

/**
 * 429 for who calls too often (wrangler.toml has the numbers). A client is told by its address, so that neither one listener nor one
 * page of many stops the others; what all of them do with one key or one play session has a bound of its own, a hundred times as wide.
 * The platform counts in each of its locations, and only roughly.
 */

const MINUTE = 60_000

/**
 * The caller's address, which Cloudflare tells, and of IPv6 the network, the first 64 bits, in which one caller has all addresses. Nobody's when
 * the service is not reached through it.
 */
export function clientOf(headers: Headers): string {
  const [head = '', tail] = (headers.get('cf-connecting-ip') ?? '').split('::')
  const groups = head.split(':')
  if (tail !== undefined) {
    const rest = tail.split(':')
    while (groups.length + rest.length < 8) groups.push('0')
    groups.push(...rest)
  }
  return groups.slice(0, 4).join(':')
}

/** Whether a client may read once more what a play session's id, or another secret, opens. */
export const mayRead = async (env: Env, secret: string, client: string): Promise<boolean> =>
  (await env.PLAY_RATE_LIMIT.limit({ key: `${secret} ${client}` })).success

/** Reads what a secret opens, for one of its holders. A client that tries many which open nothing is refused for a minute. */
export async function limitReading<T>(
  { env, req }: { env: Env; req: { raw: Request } },
  { guessers }: Memory,
  secret: string,
  read: () => Promise<T>,
): Promise<T> {
  const client = clientOf(req.raw.headers)
  if (guessers.get(client, Date.now())) throw tooMany()
  // What a client is refused does not count for all: it would use up what the others have.
  if (!(await mayRead(env, secret, client)) || !(await env.AUDIENCE_RATE_LIMIT.limit({ key: secret })).success)
    throw tooMany()
  try {
    return await read()
  } catch (error) {
    if (client && error instanceof ApiError && error.status === 404) {
      const { success } = await env.MISS_RATE_LIMIT.limit({ key: client })
      if (!success) guessers.set(client, true, { organization_id: '', bytes: 100, until: Date.now() + MINUTE })
    }
    throw error
  }
}

/** What a client is told that calls too often. */
export const tooMany = () =>
  new ApiError('rate_limited', 'Too many requests; try again in a minute', undefined, { 'retry-after': '60' })

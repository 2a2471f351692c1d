import type { Memory } from '../adapters/memory.ts'
import { ApiError } from '../errors.ts'
import type { Principal } from '../principal.ts'

/**
 * 429 for who calls too often (wrangler.toml has the numbers). A client is told by its address, so that neither one listener nor one
 * page of many stops the others; what all of them do with one key or one play session has a bound of its own, a hundred times as wide.
 * The platform counts in each of its locations, and only roughly.
 */

const MINUTE = 60_000

/** The caller's address, which Cloudflare tells; nobody's when the service is not reached through it. */
export const clientOf = (headers: Headers): string => headers.get('cf-connecting-ip') ?? ''

/** Counts a call with an API key. Servers have few addresses, and are bound by their key alone. */
export async function limitKey(env: Env, principal: Principal, client: string): Promise<void> {
  if (principal.kind === 'public') return
  const { kind, api_key_id } = principal
  const isBrowsers = kind === 'player' || kind === 'uploader'
  const may = await Promise.all([
    env.API_RATE_LIMIT.limit({ key: isBrowsers ? `${api_key_id} ${client}` : api_key_id }),
    isBrowsers && env.AUDIENCE_RATE_LIMIT.limit({ key: api_key_id }),
  ])
  if (may.some((outcome) => outcome && !outcome.success)) throw tooMany()
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
  const [audience, may] = await Promise.all([
    env.AUDIENCE_RATE_LIMIT.limit({ key: secret }),
    mayRead(env, secret, client),
  ])
  if (!may || !audience.success) throw tooMany()
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

/** 429 for a client that tries one unknown key after the other. */
export async function limitGuesses(env: Env, client: string): Promise<void> {
  if (client && !(await env.API_RATE_LIMIT.limit({ key: `guess:${client}` })).success) throw tooMany()
}

/** 429 for an upload URL that is used over and over. */
export async function limitCovers(env: Env, owner_id: string): Promise<void> {
  if (!(await env.PLAY_RATE_LIMIT.limit({ key: `cover:${owner_id}` })).success) throw tooMany()
}

/** What a client is told that calls too often. */
export const tooMany = () =>
  new ApiError('rate_limited', 'Too many requests; try again in a minute', undefined, { 'retry-after': '60' })

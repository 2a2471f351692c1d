import { ApiError } from '../errors.ts'
import type { Principal } from '../principal.ts'

/** 429 for a key that calls, or a play session that is read, too often within a minute (wrangler.toml has the numbers). */
export async function limitRate(env: Env, principal: Principal, play_session_id: string | undefined): Promise<void> {
  const may =
    principal.kind === 'public'
      ? await mayPlay(env, play_session_id ?? 'none')
      : (await env.API_RATE_LIMIT.limit({ key: principal.api_key_id })).success
  if (!may) throw tooMany()
}

/** Whether a play session may be read once more. */
export const mayPlay = async (env: Env, play_session_id: string): Promise<boolean> =>
  (await env.PLAY_RATE_LIMIT.limit({ key: play_session_id })).success

/** 429 for a client that tries one unknown key after the other. */
export async function limitGuesses(env: Env, client: string | null): Promise<void> {
  if (client && !(await env.API_RATE_LIMIT.limit({ key: `guess:${client}` })).success) throw tooMany()
}

/** 429 for an upload URL that is used over and over. */
export async function limitCovers(env: Env, owner_id: string): Promise<void> {
  if (!(await env.PLAY_RATE_LIMIT.limit({ key: `cover:${owner_id}` })).success) throw tooMany()
}

const tooMany = () =>
  new ApiError('rate_limited', 'Too many requests; try again in a minute', undefined, { 'retry-after': '60' })

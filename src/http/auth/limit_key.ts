import type { Principal } from '../../core/principal.ts'
import { tooMany } from './limit_rate.ts'

/** Rate limits for API keys and for guesses of keys and passwords. The limits for listeners are in limit_rate.ts, which loads first. */

/** Counts a request of an API key. Server keys are limited as a whole, because servers have few addresses; browser keys also per client. */
export async function limitKey(env: Env, principal: Principal, client: string): Promise<void> {
  if (principal.kind === 'public') return
  const { kind, api_key_id } = principal
  const isFromBrowser = kind === 'player' || kind === 'uploader'
  const result = await env.API_RATE_LIMIT.limit({ key: isFromBrowser ? `${api_key_id} ${client}` : api_key_id })
  if (!result.success || (isFromBrowser && !(await env.AUDIENCE_RATE_LIMIT.limit({ key: api_key_id })).success))
    throw tooMany()
}

/** 429 for a client that tries one unknown key after another. */
export async function limitGuesses(env: Env, client: string): Promise<void> {
  if (client && !(await env.API_RATE_LIMIT.limit({ key: `guess:${client}` })).success) throw tooMany()
}

/** 429 for a client that tries many passwords of a share, and for all clients together, because each check is slow. */
export async function limitPasswords(env: Env, share_id: string, client: string): Promise<void> {
  const result = await env.MISS_RATE_LIMIT.limit({ key: `password:${share_id} ${client}` })
  if (!result.success || !(await env.API_RATE_LIMIT.limit({ key: `password:${share_id}` })).success) throw tooMany()
}

/** 429 for an upload URL that is used too often. */
export async function limitCovers(env: Env, owner_id: string): Promise<void> {
  if (!(await env.PLAY_RATE_LIMIT.limit({ key: `cover:${owner_id}` })).success) throw tooMany()
}

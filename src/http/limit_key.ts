import type { Principal } from '../principal.ts'
import { tooMany } from './limit_rate.ts'

/** The bounds of those who have a key, or want to be taken for somebody who has; those of listeners, who come first, are in limit_rate.ts. */

/** Counts a call with an API key. Servers have few addresses, and are bound by their key alone. */
export async function limitKey(env: Env, principal: Principal, client: string): Promise<void> {
  if (principal.kind === 'public') return
  const { kind, api_key_id } = principal
  const isFromBrowser = kind === 'player' || kind === 'uploader'
  const may = await env.API_RATE_LIMIT.limit({ key: isFromBrowser ? `${api_key_id} ${client}` : api_key_id })
  if (!may.success || (isFromBrowser && !(await env.AUDIENCE_RATE_LIMIT.limit({ key: api_key_id })).success))
    throw tooMany()
}

/** 429 for a client that tries one unknown key after the other. */
export async function limitGuesses(env: Env, client: string): Promise<void> {
  if (client && !(await env.API_RATE_LIMIT.limit({ key: `guess:${client}` })).success) throw tooMany()
}

/** 429 for a client that tries passwords of a share, and when all of them together try too many: each is slow to check. */
export async function limitPasswords(env: Env, share_id: string, client: string): Promise<void> {
  const may = await env.MISS_RATE_LIMIT.limit({ key: `password:${share_id} ${client}` })
  if (!may.success || !(await env.API_RATE_LIMIT.limit({ key: `password:${share_id}` })).success) throw tooMany()
}

/** 429 for an upload URL that is used over and over. */
export async function limitCovers(env: Env, owner_id: string): Promise<void> {
  if (!(await env.PLAY_RATE_LIMIT.limit({ key: `cover:${owner_id}` })).success) throw tooMany()
}

import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sign } from 'hono/utils/jwt/jwt'

import { signPlaySession, type SignedSession } from '../../../src/client/sign.ts'
import worker from '../../../src/index.ts'
import { anApiKey, aPlaylist } from './api.ts'
import { aReadyTrack, aTenant, storeFiles } from './fixtures.ts'
import { countRows } from './row_counter.ts'

/** Signed play sessions, and requests with them. */

/** Creates a tenant with a collection and a playlist of two tracks (`ids`), and a signing key that allows downloads. */
export async function aSigner() {
  const tenant = await aTenant()
  const { key, collection_id } = tenant
  const ids: string[] = []
  for (const player_title of ['One', 'Two']) ids.push(await aReadyTrack(key, collection_id, { player_title }))
  await Promise.all(ids.map(storeFiles))
  const aSigningKey = (body: object = {}) => anApiKey(key, { type: 'signing', ...body })
  const { secret, api_key_id } = await aSigningKey({ is_downloadable: true })
  return {
    ...tenant,
    ids,
    playlist_id: await aPlaylist(key, ids.toReversed()),
    secret,
    api_key_id,
    aSigningKey,
    /** Signs a session of the collection, unless `session` names another resource. */
    tokenOf: (session: Partial<SignedSession> = {}, by = secret) =>
      signPlaySession(by, { scope: 'collection', id: collection_id, ...session }),
  }
}
export type Signer = Awaited<ReturnType<typeof aSigner>>

/** Signs any payload with another JWT library. */
export const signWith = (
  secret: string,
  payload: Record<string, unknown>,
  kid = secret.slice('ta_sg_'.length, -50),
) => {
  const k = btoa(secret).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  return sign(payload, { kty: 'oct', alg: 'HS256', k, kid })
}

/** Requests a path. Returns the response, and the statements, trips and written rows of the database. */
export async function visit(path: string, { bindings = env, ...init }: RequestInit & { bindings?: Env } = {}) {
  const request = new Request(`https://tonearm.test${path}`, { redirect: 'manual', ...init })
  const { result, ...counts } = await countRows(async () => worker.fetch(request, bindings, createExecutionContext()))
  const { status, headers } = result
  // workerd warns about `text()` of a type that it does not know as text.
  const text = new TextDecoder().decode(await result.arrayBuffer())
  const body = text.startsWith('{') ? (JSON.parse(text) as Record<string, never>) : {}
  return { status, headers, text, body, ...counts }
}
export const statusOf = async (...args: Parameters<typeof visit>) => (await visit(...args)).status

/** Returns numbers from 0 to 1 in an order that is the same in each run. */
export function randomNumbers(): () => number {
  let state = 1
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}

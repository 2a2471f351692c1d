import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

import worker from '../../../src/index.ts'
import { ok, query } from './api.ts'

/** Functions for visitors of a share's URL. */

/** Creates a share of the collection, unless `body` contains another resource. */
export const aShare = async (key: string, collection_id: string, body: object = {}) =>
  (await ok('POST', '/v1/share', { key, body: { scope: 'collection', id: collection_id, ...body } })).share

/** Reduces password hashes to one round, so that no test has to compute 100 hashes with 100,000 rounds each. */
export async function weakenPasswordHashes(): Promise<void> {
  const [share] = await query<{ password_hash: string }>('select password_hash from shares')
  await query('update shares set password_hash = ?', share!.password_hash.replace(/^\d+/, '1'))
}

export type PageResponse = { status: number; headers: Headers; text: string }
export async function openPage(
  path: string,
  password?: string,
  bindings: Env = env,
  client = '192.0.2.1',
  headers: Record<string, string> = {},
): Promise<PageResponse> {
  const request = new Request(`https://tonearm.test${path}`, {
    redirect: 'manual',
    headers: { 'cf-connecting-ip': client, ...headers },
    ...(password !== undefined && { method: 'POST', body: new URLSearchParams({ password }) }),
  })
  const response = await worker.fetch(request, bindings, createExecutionContext())
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Opens a page like a browser that shows it at once. */
export const showPage = (path: string, password?: string, bindings?: Env) =>
  openPage(path, password, bindings, undefined, {
    'sec-fetch-dest': path.startsWith('/embed/') ? 'iframe' : 'document',
  })

/** The session in the data block of a page, without the id of the request; undefined if the page has no data block. */
export function sessionIn({ text }: PageResponse) {
  const block = /<script type="application\/json">([^<]*)<\/script><\/tonearm-player>/.exec(text)?.[1]
  if (block === undefined) return undefined
  const { api_request_id, ...session } = JSON.parse(block) as Record<string, unknown> & { play_session_id: string }
  return { ...session, hasRequestId: typeof api_request_id === 'string' }
}

/** The API key that the player of a page uses. */
export const apiKeyIn = ({ text }: PageResponse) => /api-key="([^"]+)"/.exec(text)?.[1] ?? ''

/** Text that a visitor must not see without the password. */
export const PROTECTED_TEXT = /So &quot;What|Kind of Blue|Miles Davis|og:|oembed|<tonearm-player|api-key/

/** A rate limiter like that of the platform, but without a time window. */
export function fakeRateLimit(max: number): RateLimit {
  const counts = new Map<string, number>()
  return {
    async limit({ key }) {
      counts.set(key, (counts.get(key) ?? 0) + 1)
      return { success: counts.get(key)! <= max }
    },
  }
}

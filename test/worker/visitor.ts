import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

import worker from '../../src/index.ts'

/** Who opens the address of a share. */

export type Shown = { status: number; headers: Headers; text: string }
export async function open(path: string, password?: string, bindings: Env = env, client = '192.0.2.1'): Promise<Shown> {
  const request = new Request(`https://tonearm.test${path}`, {
    redirect: 'manual',
    headers: { 'cf-connecting-ip': client },
    ...(password !== undefined && { method: 'POST', body: new URLSearchParams({ password }) }),
  })
  const response = await worker.fetch(request, bindings, createExecutionContext())
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** The key that a page plays with. */
export const keyIn = ({ text }: Shown) => /api-key="([^"]+)"/.exec(text)?.[1] ?? ''

/** What nobody may read who has not given the password. */
export const SECRETS = /So &quot;What|Kind of Blue|Miles Davis|og:|oembed|<tonearm-player|api-key/

/** The platform's limiter, without its minutes. */
export function limiter(most: number): RateLimit {
  const counts = new Map<string, number>()
  return {
    async limit({ key }) {
      counts.set(key, (counts.get(key) ?? 0) + 1)
      return { success: counts.get(key)! <= most }
    },
  }
}

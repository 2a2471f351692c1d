import { setTimeout as sleep } from 'node:timers/promises'

import { createClient } from '../../src/client/index.ts'
import { Refusal } from './account.ts'

/** Maximum milliseconds until a new deployment responds. A new address takes a minute or two, and a new certificate takes longer. */
const SERVE_TIMEOUT = 300_000

/** Waits until the service accepts the operator's key. Without a key, waits until it responds. */
export async function waitUntilServed(url: string, root_key: string | undefined): Promise<void> {
  let lastError = 'no answer'
  for (const deadline = Date.now() + SERVE_TIMEOUT; Date.now() < deadline; await sleep(1000)) {
    const path = root_key ? '/v1/organization?limit=1' : '/health'
    const headers: HeadersInit = root_key ? { authorization: `Bearer ${root_key}` } : {}
    const response = await fetch(url + path, { headers, signal: AbortSignal.timeout(10_000) }).catch((error: Error) => {
      lastError = error.cause instanceof Error ? error.cause.message : error.message
    })
    if (response?.ok) return response.body?.cancel()
    if (response) lastError = `${response.status} ${(await response.text()).slice(0, 200)}`
  }
  const advice = 'Look at `npx wrangler tail`; `npm run deploy` again goes on from here, and nothing is lost.'
  throw new Refusal(`Deployed, but ${url} does not serve yet: ${lastError}\n${advice}`)
}

/** Creates the first organization. Prints the link to its studio and its server key. */
export async function welcome(url: string, root_key: string): Promise<void> {
  const operator = createClient({ base_url: url, api_key: root_key })
  const list = await operator.get('/v1/organization', { query: { limit: 1 } })
  if (!list.ok) throw new Refusal(`The organizations cannot be read: ${list.message}`)
  if (list.count > 0) return
  const created = await operator.post('/v1/organization', { body: { name: 'My organization' } })
  if (!created.ok) throw new Refusal(`The first organization cannot be made: ${created.message}`)
  console.log(`
The first organization, "My organization"; its server key is shown this once, here and in the link:

  Studio      ${url}/#key=${created.secret}
  Server key  ${created.secret}

  TONEARM_KEY=${created.secret} npm run doctor -- --url ${url}`)
}

import { relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { createClient } from '../../src/client/index.ts'
import { root } from '../shared/settings.ts'
import { type AccountState, Refusal } from './account.ts'
import type { Plan } from './plan.ts'
import { runNode } from './wrangler.ts'

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
  Server key  ${created.secret}`)
}

/**
 * Tests the deployed service with the doctor. Throws with the command that restores the previous version if a check fails. Without a key,
 * the doctor is skipped.
 */
export async function runDoctor(plan: Plan, found: AccountState, database: string, root_key?: string): Promise<void> {
  if (!root_key && !process.env.TONEARM_KEY)
    return console.log(
      '-       The doctor is skipped: set ROOT_KEY (or a server key as TONEARM_KEY) in the environment to run it.',
    )
  // With the root key, the doctor creates an organization; TONEARM_KEY may be a key of another service.
  if (root_key) Object.assign(process.env, { ROOT_KEY: root_key, TONEARM_KEY: '' })
  const media = plan.vars.MEDIA_DELIVERY === 'zone' ? ['--media'] : []
  if (await runNode('scripts/doctor.ts', '--url', found.url, ...media)) return
  const again = `ROOT_KEY=… npm run doctor -- --url ${[found.url, ...media].join(' ')}`
  throw new Refusal(`The doctor found faults in the deployed version; see above.\n${rollbackAdvice(plan, found, database)}
To check again: ${again}`)
}

function rollbackAdvice(plan: Plan, { bindings, addsClasses }: AccountState, database: string): string {
  if (!bindings) return 'This is the first version, so there is none to return to.'
  const previous = bindings.find(({ type }) => type === 'd1')?.id
  if (previous && previous !== database)
    return 'The previous version is bound to another database, so a rollback is not possible.'
  const config = relative(root, plan.config)
  const option = config === 'wrangler.toml' ? '' : ` --config ${config}`
  if (addsClasses)
    return `This version added a class of Durable Objects, so Cloudflare refuses a rollback. To return to the previous version:

  git checkout COMMIT && npm ci && npm run deploy${option && ` --${option}`}

This does not change the rows and tables of the database (docs/operate.md#a-version-with-a-new-class).`
  return `To return to the previous version of the Worker, its variables and its secrets:

  npx wrangler rollback${option}

This does not change the rows and tables of the database, the files, the image of the containers, or the settings of bucket, queues and domain
(docs/operate.md#return-to-the-previous-version).`
}

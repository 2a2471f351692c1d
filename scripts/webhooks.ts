import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

import { Webhook } from 'standardwebhooks'

import { createClient, type Failure } from '../src/client/index.ts'
import type { TonearmEvent } from '../src/contract/event.ts'
import { readDemo } from './demo.ts'
import { bold, complain, dim, say } from './log.ts'
import { watchParents } from './parent.ts'
import { readSettings } from './settings.ts'

/**
 * `npm run webhooks`: hears of all events of what `npm start` runs, judges them as any receiver would, and prints a line for each; until
 * Ctrl-C. `PORT` and `STATE_DIR` are those of `npm start`, `TONEARM_KEY` is a server key in place of the demo's.
 */

const { base_url, stateDir } = readSettings()
const client = createClient({ base_url, api_key: process.env.TONEARM_KEY || readDemo(stateDir)?.secret || '' })
const seen = new Set<string>()
let webhook: Webhook | undefined

const server = createServer((request, response) => {
  void text(request).then(
    (body) => response.writeHead(take(body, request.headers as Record<string, string>)).end(),
    () => response.destroy(),
  )
})

/** Judges and prints what has come; answers the status. */
function take(body: string, headers: Record<string, string>): number {
  if (!webhook) return 503
  try {
    const event = webhook.verify(body, headers) as TonearmEvent
    say(lineOf(event) + (seen.has(event.id) ? dim('  again') : ''))
    seen.add(event.id)
    return 204
  } catch (error) {
    complain(`Refused: ${(error as Error).message}`)
    return 400
  }
}

/** What has happened, to what, what is known of it, and who has done it. */
function lineOf({ timestamp, type, subject, data, actor }: TonearmEvent): string {
  const facts = Object.entries(data).filter(([name, value]) => !name.endsWith('_id') && value !== null)
  const known = facts.map(([name, value]) => `${name}=${String(value)}`).join(' ')
  const time = new Date(timestamp).toTimeString().slice(0, 8)
  return `${dim(time)}  ${bold(type.padEnd(24))} ${subject}  ${known}${actor ? dim(`  by ${actor}`) : ''}`
}

function fail({ message, status }: Failure): never {
  complain(
    status === 0 || status === 401
      ? `${message} (${base_url}). Does \`npm start\` run, with the same PORT and STATE_DIR?`
      : message,
  )
  process.exit(1)
}

await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
const made = await client.post('/v1/webhook_endpoint', { body: { url, title: 'npm run webhooks' } })
if (!made.ok) fail(made)
webhook = new Webhook(made.secret)
say(
  `\n  ${bold('Waiting for events.')} Everything that happens at ${base_url} is sent to ${url}\n  Ctrl-C ends this.\n`,
)

let ending = false
/** It may be asked for twice: npm passes a Ctrl-C on. */
async function end(): Promise<void> {
  if (ending) return
  ending = true
  const params = { webhook_endpoint_id: made.ok ? made.webhook_endpoint_id : '' }
  const deleted = await client.delete('/v1/webhook_endpoint/{webhook_endpoint_id}', { params })
  process.exit(deleted.ok ? 0 : 1)
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end())
watchParents(() => void end())
// Sent by this service alone, so that something is seen at once.
await client.post('/v1/webhook_endpoint/{webhook_endpoint_id}/test', {
  params: { webhook_endpoint_id: made.webhook_endpoint_id },
})

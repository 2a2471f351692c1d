import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'

import { Webhook } from 'standardwebhooks'

import { createClient, type Failure } from '../src/client/index.ts'
import type { TonearmEvent } from '../src/contract/event.ts'
import { readSettings } from './shared/settings.ts'
import { bold, printError, dim, print } from './shared/terminal.ts'
import { readDemo } from './start/demo.ts'
import { watchParents } from './start/parent_watch.ts'

/**
 * `npm run webhooks`: subscribes to all events of the system that `npm start` runs. Verifies each event as any receiver would, and prints
 * it as a line, until Ctrl-C. `PORT` and `STATE_DIR` must be those of `npm start`. `TONEARM_KEY` is a server key that is used instead of
 * the key of the demo organization.
 */

const { base_url, stateDir } = readSettings()
const api_key = process.env.TONEARM_KEY || readDemo(stateDir)?.secret
if (!api_key) {
  printError(
    `There is no demo.json in ${stateDir}. Does \`npm start\` run, with the same STATE_DIR? Or set TONEARM_KEY.`,
  )
  process.exit(1)
}
const client = createClient({ base_url, api_key })
const receivedIds = new Set<string>()
let webhook: Webhook | undefined

const server = createServer((request, response) => {
  void text(request).then(
    (body) => response.writeHead(receive(body, request.headers as Record<string, string>)).end(),
    () => response.destroy(),
  )
})

/** Verifies and prints a request. Returns the status of the response. */
function receive(body: string, headers: Record<string, string>): number {
  if (!webhook) return 503
  try {
    const event = webhook.verify(body, headers) as TonearmEvent
    print(lineOf(event) + (receivedIds.has(event.id) ? dim('  again') : ''))
    receivedIds.add(event.id)
    return 204
  } catch (error) {
    printError(`Refused: ${(error as Error).message}`)
    return 400
  }
}

/** Formats the time, type, subject, data and actor of an event as one line. */
function lineOf({ timestamp, type, subject, data, actor }: TonearmEvent): string {
  const fields = Object.entries(data).filter(([name, value]) => !name.endsWith('_id') && value !== null)
  const values = fields.map(([name, value]) => `${name}=${String(value)}`).join(' ')
  const time = new Date(timestamp).toTimeString().slice(0, 8)
  return `${dim(time)}  ${bold(type.padEnd(24))} ${subject}  ${values}${actor ? dim(`  by ${actor}`) : ''}`
}

function explain({ message, status }: Failure): string {
  if (status === 401 && process.env.TONEARM_KEY) return `${message} (${base_url}). Is TONEARM_KEY a server key of it?`
  if (status !== 0 && status !== 401) return message
  return `${message} (${base_url}). Does \`npm start\` run, with the same PORT and STATE_DIR?`
}

const TITLE = 'npm run webhooks'
const listen = () => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const urlOf = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
const createEndpoint = () => client.post('/v1/webhook_endpoint', { body: { url: urlOf(), title: TITLE } })

/** Deletes an endpoint. Returns whether it no longer exists. */
async function deleteEndpoint(webhook_endpoint_id: string): Promise<boolean> {
  const deleted = await client.delete('/v1/webhook_endpoint/{webhook_endpoint_id}', { params: { webhook_endpoint_id } })
  if (deleted.ok || deleted.status === 404) return true
  printError(`The endpoint ${webhook_endpoint_id} is still there: ${explain(deleted)}`)
  return false
}

/** Deletes the endpoints that killed runs of this script have left. Nothing listens on their ports. */
async function deleteAbandoned(): Promise<void> {
  const list = await client.get('/v1/webhook_endpoint')
  if (!list.ok) return
  for (const { id, title, url } of list.webhook_endpoints) {
    const { protocol, hostname, port } = new URL(url)
    const isOurs = title === TITLE && protocol === 'http:' && hostname === '127.0.0.1'
    if (isOurs && (await isRefused(Number(port)))) await deleteEndpoint(id)
  }
}

const isRefused = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(false))
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'))
    socket.on('connect', () => socket.destroy())
  })

let creating: ReturnType<typeof createEndpoint> | undefined
let ending = false
/**
 * Deletes the endpoint and exits. Waits if the endpoint is still being created. The function can be called twice, because npm forwards
 * Ctrl-C.
 */
async function end(code: number): Promise<void> {
  if (ending) return
  ending = true
  const made = await creating
  process.exit(!made?.ok || (await deleteEndpoint(made.webhook_endpoint_id)) ? code : 1)
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(0))
watchParents(() => void end(0))

await listen()
await deleteAbandoned()
creating = createEndpoint()
const made = await creating
if (!made.ok) {
  printError(explain(made))
  process.exit(1)
}
webhook = new Webhook(made.secret)
print(
  `\n  ${bold('Waiting for events.')} Everything that happens at ${base_url} is sent to ${urlOf()}\n  Ctrl-C ends this.\n`,
)
// Sends a test event only to this endpoint, so that a line appears immediately.
const test = await client.post('/v1/webhook_endpoint/{webhook_endpoint_id}/test', {
  params: { webhook_endpoint_id: made.webhook_endpoint_id },
})
if (!test.ok && !ending) {
  printError(`No test could be sent: ${explain(test)}`)
  await end(1)
}

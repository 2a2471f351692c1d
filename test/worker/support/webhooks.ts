import { env } from 'cloudflare:workers'
import { inject, vi } from 'vitest'

import type { Received } from '../../support/receiver.ts'
import { anOrganization, call, ok, query } from './api.ts'
import { deliver } from './fixtures.ts'

/** Endpoints with receivers on loopback addresses, and events like those that triggers and requests record. */

/** An address on which no server listens. */
export const UNREACHABLE_URL = 'http://127.0.0.1:9/hook'

/** Creates an endpoint that subscribes only to test events, and its test delivery. The queue message of the delivery is not consumed. */
export async function aTestedEndpoint(key: string) {
  const body = { url: UNREACHABLE_URL, events: ['webhook.test'] }
  const { webhook_endpoint_id } = await postBody(key, '/v1/webhook_endpoint', body)
  const { webhook_delivery_id } = await postBody(key, `/v1/webhook_endpoint/${webhook_endpoint_id}/test`)
  return { webhook_endpoint_id: webhook_endpoint_id, webhook_delivery_id: webhook_delivery_id }
}

const realFetch = globalThis.fetch

/** Allows requests to the receivers of the tests; all other external requests throw. */
export function allowReceivers(): void {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    if (!request.url.startsWith(inject('receivers'))) throw new TypeError(`no test expects a request to ${request.url}`)
    return realFetch(input, init)
  })
}

export type Receiver = ReturnType<typeof aReceiver>
/** A receiver whose behavior is named in its URL. */
export function aReceiver(behavior: string) {
  const name = crypto.randomUUID()
  const at = `${inject('receivers')}/${name}`
  const request = async (search = '') => (await realFetch(`${at}${search}`)).json<Received[]>()
  return {
    url: `${at}/${behavior}`,
    received: () => request(),
    next: (next: string) => request(`?next=${next}`),
  }
}

export async function anEndpoint(key: string, body: { url: string; [field: string]: unknown }) {
  const { webhook_endpoint_id, secret } = await ok('POST', '/v1/webhook_endpoint', { key, body })
  return { id: webhook_endpoint_id, secret: secret }
}

/** Creates an organization and an endpoint with a receiver. */
export async function aSubscriber(behavior: string, body: object = {}) {
  const { id: organization_id, key } = await anOrganization()
  const receiver = aReceiver(behavior)
  const endpoint = await anEndpoint(key, { url: receiver.url, ...body })
  return { organization_id, key, receiver, ...endpoint }
}

/** Records events of an organization, one for each pair of subject and type. */
export async function insertEvents(organization_id: string, ...list: [subject: string, type?: string][]) {
  const now = Date.now()
  await env.DB.batch(
    list.map(([subject, type = 'track.updated']) =>
      env.DB.prepare(
        `insert into events (organization_id, seq, id, type, subject, data, created_at)
          select ?1, max(coalesce((select max(seq) from events where organization_id = ?1), 0) + 1, ?2), ?3, ?4, ?5, ?6, ?2`,
      ).bind(organization_id, now, crypto.randomUUID(), type, subject, JSON.stringify({ subject })),
    ),
  )
}

/** Runs the consumer of the webhook queue with one message. */
export const runConsumer = (bindings?: Env) => deliver('webhook', {}, { bindings })

export interface Delivery {
  state: string
  attempt: number
  due_at: number | null
  subject: string | null
  attempts: string
  seq: number
}
export const deliveries = (endpoint_id: string) =>
  query<Delivery>('select * from webhook_deliveries where endpoint_id = ? order by seq', endpoint_id)
export const endpointRow = async (id: string) => (await query('select * from webhook_endpoints where id = ?', id))[0]!

/** Advances time until the next attempt is due, and runs this attempt. Returns false when no attempt is scheduled. */
export async function nextAttempt(endpoint_id: string, bindings?: Env): Promise<boolean> {
  const [row] = await query<{ at: number | null }>(
    'select min(due_at) as at from webhook_deliveries where endpoint_id = ?',
    endpoint_id,
  )
  if (row?.at == null) return false
  vi.setSystemTime(Math.max(Date.now(), row.at))
  await runConsumer(bindings)
  return true
}

/** Runs all attempts at the times for which they are scheduled, until no attempt is left. */
export async function allAttempts(endpoint_id: string, bindings?: Env): Promise<void> {
  for (let at = 0; at < 60; at++) if (!(await nextAttempt(endpoint_id, bindings))) return
  throw new Error('attempts never end')
}

export const getBody = async <const P extends string>(key: string, path: P) => (await call('GET', path, { key })).body
export const postBody = <const P extends string>(key: string, path: P, body?: object) => ok('POST', path, { key, body })

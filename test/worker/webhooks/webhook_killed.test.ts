import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { query } from '../support/api.ts'
import { faultyDatabase } from '../support/faulty_database.ts'
import {
  aSubscriber,
  allAttempts,
  anEndpoint,
  aReceiver,
  insertEvents,
  allowReceivers,
  runConsumer,
} from '../support/webhooks.ts'

beforeEach(allowReceivers)
afterEach(() => void vi.useRealTimers())

const EVENTS = 1000
const SUBJECTS = 50

/** The bindings of a worker that dies during its n-th database call, before or after the call executes. */
function dying(n: number, moment: 'before' | 'after'): Env {
  const dead = () => new Error('the worker was killed')
  const failsAt = (call: number) => (call < n ? null : call === n ? moment : 'before')
  return { ...env, DB: faultyDatabase(env.DB, failsAt, dead) }
}

/**
 * The numbers of the database calls at which the worker dies, in every step of a delivery: due deliveries are found (1), claimed (2), sent, and
 * recorded (3 and more).
 */
const POINTS = [1, 2, 3, 4, 5, 6, 7, 8, 13, 40]

it('a killed worker loses none of 1,000 events, repeats deliveries with the same id, and keeps the order for ordered endpoints', async () => {
  const { organization_id, receiver, key, id } = await aSubscriber('ok', { events: ['track.*', 'collection.*'] })
  const ordered = aReceiver('ok')
  const subscription = { url: ordered.url, events: ['collection.*'], is_ordered: true }
  const { id: ordered_id } = await anEndpoint(key, subscription)
  for (let at = 0; at < EVENTS; at += 100) {
    const batch = Array.from({ length: 100 }, (_, n): [string, string] => {
      const subject = (at + n) % SUBJECTS
      return subject < 10 ? [`collection:${subject}`, 'collection.updated'] : [`track:${subject}`, 'track.updated']
    })
    await insertEvents(organization_id, ...batch)
  }
  for (const point of POINTS) {
    for (const moment of ['before', 'after'] as const) {
      await runConsumer(dying(point, moment))
      // The lease of the killed worker expires.
      vi.setSystemTime(Date.now() + 31_000)
    }
  }
  // This also completes a delivery that was claimed for a message of an earlier test.
  for (const endpoint_id of [id, ordered_id]) await allAttempts(endpoint_id)
  const states = await query<{ state: string; count: number }>(
    'select state, count(*) as count from webhook_deliveries group by 1',
  )
  expect(states).toEqual([{ state: 'delivered', count: EVENTS + EVENTS / 5 }])

  const events = await query<{ id: string; seq: number }>(`select id, seq from events where type like '%.updated'`)
  const received_ids = (await receiver.received()).map(({ headers }) => headers['webhook-id'])
  expect(new Set(received_ids)).toEqual(new Set(events.map((event) => event.id)))
  // Some deliveries were sent twice, because the worker died before it recorded them.
  expect(received_ids.length).toBeGreaterThan(EVENTS)

  const sequences = new Map<string, number[]>()
  for (const { body } of await ordered.received()) {
    const { subject, sequence } = JSON.parse(body) as { subject: string; sequence: number }
    sequences.set(subject, [...(sequences.get(subject) ?? []), sequence])
  }
  expect(sequences.size).toBe(10)
  for (const numbers of sequences.values()) {
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    expect(new Set(numbers).size).toBe(EVENTS / SUBJECTS)
  }
})

import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, inject, it, type MockInstance, vi } from 'vitest'

import { System } from '../../../src/contract/system.ts'
import { MINUTE } from '../../../src/contract/time.ts'
import { call, HOUR, ok, query } from '../support/api.ts'
import { runSweep, stopTime } from '../support/fixtures.ts'
import { startTranscoder } from '../support/transcoder.ts'

/** The hourly request of the sweep for a file without a token (docs/decisions/0088), to a server that answers over HTTP. */

const zone: Env = { ...env, MEDIA_DELIVERY: 'zone', MEDIA_BASE_URL: inject('receivers'), MEDIA_KEY: 'f00d'.repeat(16) }
const realFetch = globalThis.fetch.bind(globalThis)

/** Sets the status of the domain's responses; 0 closes the connection. */
const answerWith = (status: number) => realFetch(`${inject('receivers')}/media?next=${status}`)
const system = async (bindings = zone) =>
  System.parse((await ok('GET', '/v1/system', { key: env.ROOT_KEY, bindings })).system)
/** The requests of sweeps to the domain. */
let requests: string[]

let errors: MockInstance<typeof console.error>
beforeEach(() => {
  startTranscoder({ health: () => Response.json({ ok: true, slots: [{}] }) })
  errors = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  vi.spyOn(console, 'log').mockImplementation(() => undefined)
  const callTranscoder = vi.mocked(fetch).getMockImplementation()!
  requests = []
  vi.mocked(fetch).mockImplementation((input, init) => {
    const { url } = new Request(input, init)
    if (!url.startsWith(inject('receivers'))) return callTranscoder(input, init)
    requests.push(url)
    return realFetch(input, init)
  })
  stopTime()
})
afterEach(() => answerWith(403))

it('a sweep requests a file without a token every hour, and the system shows the time', async () => {
  const started = Date.now()
  expect((await system()).media).toEqual({ delivery: 'zone', checked_at: null, is_open: false })
  await runSweep(zone)
  expect((await system()).media).toEqual({
    delivery: 'zone',
    checked_at: new Date(started).toISOString(),
    is_open: false,
  })
  vi.setSystemTime(started + HOUR - 1)
  await runSweep(zone)
  expect(requests).toHaveLength(1)
  vi.setSystemTime(started + HOUR)
  await runSweep(zone)
  expect(requests).toHaveLength(2)
  const [first, second] = requests
  expect(first).toMatch(/\/media\/[0-9a-f-]{36}$/)
  expect(second).not.toBe(first)
})

it.each([200, 206, 404, 302, 401])(
  'a domain that responds with %i without a token makes the system fail until it responds with 403',
  async (status) => {
    await answerWith(status)
    const started = Date.now()
    await runSweep(zone)
    expect(await system()).toMatchObject({ failing: ['media'], media: { is_open: true } })
    expect((await call('GET', '/health', { bindings: zone })).body.failing).toEqual(['media'])
    expect(errors).toHaveBeenCalledWith(JSON.stringify({ event: 'media_open', status }))
    // It is repeated in every sweep, so that the repair is noticed.
    await answerWith(403)
    vi.setSystemTime(started + MINUTE)
    await runSweep(zone)
    expect(await system()).toMatchObject({ failing: [], media: { is_open: false } })
    expect((await call('GET', '/health', { bindings: zone })).status).toBe(200)
  },
)

it.each([0, 409, 429, 500, 522])(
  'a domain that responds with %i is checked again in the next sweep, and is not open',
  async (status) => {
    await answerWith(status)
    for (let sweep = 0; sweep < 2; sweep++) await runSweep(zone)
    expect(requests).toHaveLength(2)
    expect(await system()).toMatchObject({ failing: [], media: { checked_at: null, is_open: false } })
  },
)

it('an open domain makes the system fail as long as it does not respond', async () => {
  await answerWith(200)
  await runSweep(zone)
  await answerWith(522)
  await runSweep(zone)
  expect(await system()).toMatchObject({ failing: ['media'] })
})

it('the domain is checked after a return to R2 as long as its address is known, and never without one', async () => {
  await answerWith(404)
  await runSweep(env)
  expect(requests).toEqual([])
  expect(await query("select * from heartbeats where name = 'media'")).toEqual([])
  const returned = { ...zone, MEDIA_DELIVERY: 'r2' }
  await runSweep(returned)
  expect(await system(returned)).toMatchObject({ failing: ['media'], media: { delivery: 'r2', is_open: true } })
  expect(await system(env)).toMatchObject({ failing: [], media: { is_open: false } })
})

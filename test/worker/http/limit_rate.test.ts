import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'

import { newHourlyId } from '../../../src/adapters/crypto/id.ts'
import { API_RATE, AUDIENCE_RATE, MISS_RATE, PLAY_RATE } from '../../../src/contract/facts.ts'
import worker from '../../../src/index.ts'
import { anApiKey, anOrganization, HOUR, UNKNOWN_ID } from '../support/api.ts'
import { theWorkspace } from '../support/contract_workspace.ts'
import { countRows } from '../support/row_counter.ts'
import { fakeRateLimit } from '../support/share_visitor.ts'

/** Rate limits refuse the client that sends too many requests, and no other client. */

const limited = (): Env => ({
  ...env,
  API_RATE_LIMIT: fakeRateLimit(API_RATE),
  PLAY_RATE_LIMIT: fakeRateLimit(PLAY_RATE),
  AUDIENCE_RATE_LIMIT: fakeRateLimit(AUDIENCE_RATE),
  MISS_RATE_LIMIT: fakeRateLimit(MISS_RATE),
})
const read = async (bindings: Env, path: string, client: string, headers: object = {}) => {
  const request = new Request(`https://tonearm.test${path}`, { headers: { ...headers, 'cf-connecting-ip': client } })
  const response = await worker.fetch(request, bindings, createExecutionContext())
  await response.arrayBuffer()
  return response.status
}

it('the rate limit counts each listener of a session separately', async () => {
  const { play_session_id } = await theWorkspace()
  const path = `/v1/play/${play_session_id}`
  const narrow: Env = { ...limited(), PLAY_RATE_LIMIT: fakeRateLimit(2), AUDIENCE_RATE_LIMIT: fakeRateLimit(60) }
  const singleClient = []
  for (let time = 0; time < 5; time++) singleClient.push(await read(narrow, path, '192.0.2.1'))
  expect(singleClient).toEqual([200, 200, 429, 429, 429])
  // Each request has a different address, so they reach only the wider limit of the whole audience, which one client alone cannot use up.
  const statuses = []
  for (let at = 0; at < 60; at++) statuses.push(await read(narrow, path, `198.51.100.${at}`))
  expect(statuses.slice(0, 58)).toEqual(Array.from({ length: 58 }, () => 200))
  expect(statuses.slice(58)).toEqual([429, 429])
})

it('the rate limit counts each address that uses a player key separately, but all addresses that use a server key together', async () => {
  const { key } = await anOrganization()
  const { secret: page } = await anApiKey(key)
  const bindings = { ...limited(), API_RATE_LIMIT: fakeRateLimit(1) }
  const statuses = async (secret: string) => {
    const authorization = `Bearer ${secret}`
    const answers = []
    for (const client of ['192.0.2.1', '192.0.2.2', '192.0.2.2'])
      answers.push(await read(bindings, '/v1/variant', client, { authorization }))
    return answers
  }
  expect(await statuses(page)).toEqual([200, 200, 429])
  expect(await statuses(key)).toEqual([200, 429, 429])
})

it('the rate limit refuses a client that guesses ids, without querying the database, and refuses no other client', async () => {
  const { play_session_id, track_id } = await theWorkspace()
  const bindings = limited()
  const paths = [
    (id: string) => `/v1/play/${id}`,
    (id: string) => `/v1/play/${id}/${track_id}`,
    (id: string) => `/embed/${id}`,
  ]
  const guessed = (at: number) => paths[at % paths.length]!(newHourlyId(Date.now() + HOUR))
  for (let at = 0; at < MISS_RATE + 1; at++) expect(await read(bindings, guessed(at), '192.0.2.66')).toBe(404)
  for (let at = 0; at < 3; at++) {
    const { result, statements } = await countRows(() => read(bindings, guessed(at), '192.0.2.66'))
    expect([result, statements]).toEqual([429, 0])
  }
  expect(await read(bindings, `/v1/play/${UNKNOWN_ID}`, '192.0.2.67')).toBe(404)
  expect(await read(bindings, `/v1/play/${play_session_id}`, '192.0.2.67')).toBe(200)
})

it('the rate limit refuses a client that guesses the root key or METRICS_KEY, even if it then sends the right one', async () => {
  const METRICS_KEY = 'metrics-key'
  const right = { '/v1/system': env.ROOT_KEY, '/v1/system/metrics': METRICS_KEY }
  for (const [path, key] of Object.entries(right)) {
    const bindings: Env = { ...limited(), METRICS_KEY, API_RATE_LIMIT: fakeRateLimit(3) }
    const send = (client: string, secret = 'guessed') =>
      read(bindings, path, client, { authorization: `Bearer ${secret}` })
    const answers = []
    for (let at = 0; at < 4; at++) answers.push(await send('192.0.2.66'))
    expect([...answers, await send('192.0.2.66', key)]).toEqual([401, 401, 401, 429, 429])
    expect(await send('192.0.2.67', key)).toBe(200)
  }
})

it('the rate limit ignores addresses that clients claim themselves if no header is trusted, and accepts another trusted header', async () => {
  const guess = (bindings: Env, at: number) => {
    const headers = { 'x-real-ip': `203.0.113.${at}`, 'x-forwarded-for': `203.0.113.${at}` }
    return read(bindings, `/v1/play/${newHourlyId(Date.now() + HOUR)}`, `198.51.100.${at}`, headers)
  }
  const statuses = async (bindings: Env) => {
    const answers = []
    for (let at = 0; at < MISS_RATE + 2; at++) answers.push(await guess(bindings, at))
    return answers.slice(MISS_RATE)
  }
  expect(await statuses({ ...limited(), CLIENT_IP_HEADER: '' })).toEqual([404, 429])
  expect(await statuses({ ...limited(), CLIENT_IP_HEADER: 'x-real-ip' })).toEqual([404, 404])
})

import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'

import worker from '../../../src/index.ts'
import { call, DAY, expectError, ok, UNKNOWN_ID } from '../support/api.ts'
import { aReadyTrack, aTenant } from '../support/fixtures.ts'

let key: string
let collection_id: string
let track_id: string

beforeEach(async () => {
  ;({ key, collection_id } = await aTenant())
  track_id = await aReadyTrack(key, collection_id)
})
const daysAgo = (days: number) => new Date(Date.now() - days * DAY).toISOString().slice(0, 10)
const get = (path: string) => ok('GET', path, { key })
const readCsv = async (path: string, accept = 'text/csv') => {
  const headers = { authorization: `Bearer ${key}`, accept }
  const response = await worker.fetch(
    new Request(`https://tonearm.test${path}`, { headers }),
    env,
    createExecutionContext(),
  )
  return { type: response.headers.get('content-type'), text: await response.text() }
}

describe('the days of statistics', () => {
  it('are the last 30 by default, and every day has a row', async () => {
    const { rows, from, to } = await get(`/v1/stats/track/${track_id}`)
    expect([from, to]).toEqual([daysAgo(29), daysAgo(0)])
    expect(rows.map((row: { key: string }) => row.key)).toEqual(Array.from({ length: 30 }, (_, at) => daysAgo(29 - at)))
  })

  it('are 400 at most, in order and not in the future', async () => {
    const path = `/v1/stats/collection/${collection_id}`
    expect((await get(`${path}?from=${daysAgo(399)}`)).rows).toHaveLength(400)
    const wrong = [
      `from=${daysAgo(400)}`,
      `to=${daysAgo(-1)}`,
      `from=${daysAgo(1)}&to=${daysAgo(2)}`,
      `from=${daysAgo(-1)}`,
    ]
    for (const query of wrong) await expectError(400, 'invalid_request', 'GET', `${path}?${query}`, { key })
    for (const query of ['from=yesterday', 'by=week', 'to=2026-02-30'])
      await expectError(400, 'invalid_request', 'GET', `${path}?${query}`, { key })
  })

  it('of a retention are whole weeks', async () => {
    const { from, to } = await get(`/v1/track/${track_id}/retention?from=2026-11-04&to=2026-11-09`)
    expect([from, to]).toEqual(['2026-11-02', '2026-11-15'])
  })
})

describe('statistics as CSV', () => {
  it('have the names of the columns in the first line', async () => {
    const day = daysAgo(0)
    const { type, text } = await readCsv(`/v1/stats/track/${track_id}?from=${day}`)
    expect(type).toBe('text/csv; charset=utf-8')
    expect(text).toBe(
      `key,plays,visits,seconds,completions,downloads,muted_seconds,fast_seconds\r\n${day},0,0,0,0,0,0,0\r\n`,
    )
  })

  it('are sent only to callers that prefer them to JSON', async () => {
    const path = `/v1/track/${track_id}/retention`
    expect((await readCsv(path, 'text/csv;q=0.9, application/json')).text).toMatch(/^second,visits,times\r\n/)
    for (const accept of ['application/json, text/csv', '*/*'])
      expect((await readCsv(path, accept)).type).toBe('application/json')
  })
})

it('statistics of an unknown resource, and of another organization, return 404', async () => {
  const other = await aTenant()
  const paths = [
    `/v1/stats/organization/${other.organization_id}`,
    `/v1/stats/collection/${other.collection_id}`,
    `/v1/stats/share/${UNKNOWN_ID}`,
    `/v1/stats/playlist/${UNKNOWN_ID}`,
    `/v1/stats/collection/${track_id}`,
    `/v1/track/${UNKNOWN_ID}/retention`,
  ]
  for (const path of paths) await expectError(404, 'not_found', 'GET', path, { key })
  expect((await call('GET', `/v1/stats/album/${collection_id}`, { key })).status).toBe(400)
})

import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, expect, it, vi } from 'vitest'

import { tracks } from '../../../src/adapters/db/schema/library.ts'
import worker from '../../../src/index.ts'
import { aPlaySession, db, ok, UNKNOWN_ID } from '../support/api.ts'
import { theWorkspace, type Workspace } from '../support/contract_workspace.ts'
import { heardReport } from '../support/heard.ts'
import { aShare } from '../support/share_visitor.ts'

/** One log line for each request (docs/decisions/0043). */

const logging: Env = { ...env, REQUEST_LOG: 'true' }
let lines: string[]
let workspace: Workspace
beforeEach(async () => {
  workspace = await theWorkspace()
  lines = []
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line))
})

async function request(method: string, path: string, init: RequestInit = {}, bindings = logging) {
  const request = new Request(new URL(path, 'https://tonearm.test'), { method, ...init })
  const response = await worker.fetch(request, bindings, createExecutionContext())
  return { response, body: await response.text() }
}
const withKey = (key: string): RequestInit => ({ headers: { authorization: `Bearer ${key}` } })

/** Makes every successful request for play sessions be logged (`LOGGED_SHARE`), or none. */
const logPlays = (isLogged: boolean) => vi.spyOn(Math, 'random').mockReturnValue(isLogged ? 0 : 0.999)

it('the request log contains id, route, status, time and organization, and no secrets', async () => {
  const { key, organization_id, collection_id, play_session_id, track_id } = workspace
  const { heard_token } = await aPlaySession(key, 'collection', collection_id)
  const report = JSON.stringify(heardReport(track_id))
  const view = `/v1/play/${play_session_id}/${track_id}`
  logPlays(true)
  const made = await ok('POST', `/v1/collection/${collection_id}/cover`, { key })
  const cover = new URL(made.collection_cover_upload.upload_url).pathname
  const answered = await request('GET', `/v1/collection/${collection_id}?secret=query`, withKey(key))
  await request('GET', view)
  await request('GET', `/v1/play/${UNKNOWN_ID}`)
  await request('GET', `/embed/${play_session_id}?theme=dark`)
  await request('GET', `/oembed?url=${encodeURIComponent(`https://tonearm.test/embed/${play_session_id}`)}`)
  await request('POST', cover, { body: 'no image' })
  await request('PUT', cover)
  await request('POST', `/v1/heard/${heard_token}`, { body: report })
  await request('POST', `/v1/heard/${heard_token.slice(1)}`, { body: report })
  await request('GET', `/v1/collection/${collection_id}`, withKey('hunter2'))
  await request('DELETE', '/v1/limits', withKey(key))
  await request('GET', `/nowhere/${key}`)
  const rows = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(
    rows.map(({ event, method, route, status, organization_id: owner }) => [event, method, route, status, owner]),
  ).toEqual([
    ['request', 'GET', '/v1/collection/:collection_id', 200, organization_id],
    ['request', 'GET', '/v1/play/:play_session_id/:play_track_id', 200, organization_id],
    ['request', 'GET', '/v1/play/:play_session_id', 404, undefined],
    ['request', 'GET', '/embed/:play_session_id', 200, undefined],
    ['request', 'GET', '/oembed', 200, undefined],
    ['request', 'POST', '/v1/cover_upload/:token', 400, organization_id],
    ['request', 'PUT', '/*', 404, undefined],
    ['request', 'POST', '/v1/heard/:token', 204, undefined],
    ['request', 'POST', '/v1/heard/:token', 404, undefined],
    ['request', 'GET', '/v1/collection/:collection_id', 401, undefined],
    ['request', 'DELETE', '/v1/limits', 405, undefined],
    ['request', 'GET', '/*', 404, undefined],
  ])
  expect(rows[0]!.api_request_id).toBe(JSON.parse(answered.body).api_request_id)
  expect(rows.every(({ milliseconds }) => Number(milliseconds) >= 0)).toBe(true)
  const token = cover.split('/').at(-1)!
  for (const secret of [key, 'hunter2', play_session_id, UNKNOWN_ID, token, heard_token.slice(1), 'query', 'dark'])
    expect(lines.filter((line) => line.includes(secret))).toEqual([])
})

it('the request log omits cached responses, and is empty when it is turned off', async () => {
  const view = `/v1/play/${workspace.play_session_id}/${workspace.track_id}`
  logPlays(true)
  const caching = { ...logging, REUSE_ANSWERS: 'true' }
  await db.update(tracks).set({ player_title: 'Kept' })
  for (let _time = 0; _time < 3; _time++) await request('GET', view, {}, caching)
  expect(lines).toHaveLength(1)
  await request('GET', view, {}, env)
  expect(lines).toHaveLength(1)
})

it('the request log has a sample of the successful requests for play sessions and links to files, and every failed one', async () => {
  const { key, collection_id, play_session_id, track_id } = workspace
  logPlays(false)
  const session = `/v1/play/${play_session_id}`
  for (const path of [session, `${session}?views=5`, `${session}/${track_id}`]) {
    expect((await request('GET', path)).response.status).toBe(200)
  }
  const create = (body: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    return request('POST', '/v1/play_session/collection', { headers, body: JSON.stringify(body) })
  }
  expect((await create({ collection_id })).response.status).toBe(200)
  expect((await request('HEAD', session)).response.status).toBe(200)
  const { slug } = await aShare(key, collection_id, { is_downloadable: true })
  const file = `/s/${slug}/feed/${track_id}`
  expect((await request('GET', `${file}.mp3`, { redirect: 'manual' })).response.status).toBe(302)
  expect(lines).toEqual([])
  await create({ collection_id: UNKNOWN_ID })
  await request('GET', `${session}?views=6`)
  await request('GET', `${session}/${UNKNOWN_ID}`)
  await request('GET', `${file}.flac`)
  expect(lines.map((line) => (JSON.parse(line) as { status: number }).status)).toEqual([404, 400, 404, 404])
  const { route, organization_id } = JSON.parse(lines.at(-1)!) as Record<string, string>
  expect([route, organization_id]).toEqual(['/s/:slug/:file', undefined])
})

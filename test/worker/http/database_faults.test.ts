import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { operations, type OperationName } from '../../../src/contract/index.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import worker from '../../../src/index.ts'
import { aCollection, aWaitingTrack, call, ok, query, quietBindings } from '../support/api.ts'
import { cases } from '../support/contract_cases.ts'
import { theWorkspace, pathIn, type Workspace } from '../support/contract_workspace.ts'
import { atRate, faultyDatabase, type FaultMoment } from '../support/faulty_database.ts'
import { aTenant } from '../support/fixtures.ts'
import { keyOf } from '../support/requests.ts'
import { aShare } from '../support/share_visitor.ts'

/** Requests while the database has transient faults, before or after the execution of a statement (docs/decisions/0075). */

// Retries wait for up to half a second.
beforeEach(() => {
  vi.spyOn(scheduler, 'wait').mockResolvedValue()
  onTestFinished(() => void vi.restoreAllMocks())
})

const table = Object.entries(operations) as [OperationName, Operation][]

const withFaults = (failsAt: (call: number) => FaultMoment): Env => ({
  ...quietBindings,
  DB: faultyDatabase(env.DB, failsAt),
})

/** Sends a valid request of an operation. */
function send(name: OperationName, workspace: Workspace, bindings: Env, headers: Record<string, string> = {}) {
  const { method, path } = operations[name] as Operation
  const { body, names } = cases[name]
  const options = { key: keyOf(name, workspace), body: body?.(workspace), bindings, headers }
  return call(method.toUpperCase(), pathIn({ ...workspace, ...names?.(workspace) }, path), options)
}

/** The position of an operation in a sequence in which deletions come last. */
const orderOf = ([name, { method }]: [OperationName, Operation]) =>
  name === 'deleteOrganization' ? 2 : method === 'delete' ? 1 : 0

describe.each([0.05, 0.4])('with a fault in %f of the database calls', (rate) => {
  it('every operation responds with at most 499, or with 503 and Retry-After', async () => {
    const workspace = await theWorkspace()
    const bindings = withFaults(atRate(rate, 7))
    const counts = new Map<number, number>()
    for (const entry of table.toSorted((a, b) => orderOf(a) - orderOf(b))) {
      for (let times = 0; times < 3; times++) {
        const { status, body, headers } = await send(entry[0], workspace, bindings, { 'idempotency-key': entry[0] })
        counts.set(status, (counts.get(status) ?? 0) + 1)
        if (status < 500) continue
        expect([entry[0], status, body.code, headers.get('retry-after')]).toEqual([entry[0], 503, 'unavailable', '1'])
      }
    }
    expect(counts.get(200)).toBeGreaterThan(rate < 0.1 ? 150 : 50)
    if (rate > 0.1) expect(counts.get(503)).toBeGreaterThan(5)
  })
})

/** POST operations that create or rotate something. */
const CREATING: OperationName[] = [
  'createOrganization',
  'createCollection',
  'createTrack',
  'createUploadSession',
  'createSessionTrack',
  'createPlaylist',
  'insertPlaylistTracks',
  'createApiKey',
  'rotateApiKey',
  'createVariant',
  'createShare',
  'createShares',
  'createWebhookEndpoint',
  'rotateWebhookEndpoint',
  'createPlaySession',
]

const COUNTED = ['organizations', 'collections', 'tracks', 'playlists', 'playlist_tracks', 'api_keys', 'variants']
const ALL_COUNTED = [...COUNTED, 'shares', 'webhook_endpoints', 'upload_sessions', 'events']

/** The number of rows of each table, and the sum of the playlists' versions. */
async function countAll(): Promise<Record<string, number>> {
  const [row] = await query<Record<string, number>>(
    `select ${ALL_COUNTED.map((name) => `(select count(*) from ${name}) as ${name}`).join()},
      (select sum(version) from playlists) as versions`,
  )
  return row!
}
/** Returns how much each count has grown while `run` ran, and the result of `run`. */
async function growthOf<T>(run: () => Promise<T>) {
  const before = await countAll()
  const result = await run()
  const after = await countAll()
  return { growth: Object.fromEntries(Object.keys(after).map((name) => [name, after[name]! - before[name]!])), result }
}

/** Bodies without values that a server chooses for each request. */
const unique = (name: OperationName, body: object | undefined, at: string) =>
  body && (name === 'createVariant' ? { ...body, name: `Voice ${at}` } : body)

describe.each(CREATING)('%s, repeated with the same Idempotency-Key', (name) => {
  it.each(['a lost response', 'an outage from there on'])('takes effect once after %s at any call', async (fault) => {
    const workspace = await theWorkspace()
    const { method, path } = operations[name] as Operation
    const request = async (at: string, bindings: Env) =>
      call(method.toUpperCase(), pathIn(workspace, path), {
        key: keyOf(name, workspace),
        body: unique(name, cases[name].body?.(workspace), at),
        bindings,
        headers: { 'idempotency-key': `${name}-${at}` },
      })
    const { growth: expected } = await growthOf(() => request('none', quietBindings))
    let calls = 1
    // `calls` is the number of calls of the last first attempt. It is less than `place` once no call of the attempt fails.
    for (let place = 1; calls >= place - 1; place++) {
      calls = 0
      const bindings = withFaults((call) => {
        calls = call
        return call === place ? 'after' : call > place && fault !== 'a lost response' ? 'before' : null
      })
      const { growth, result } = await growthOf(async () => {
        const first = await request(String(place), bindings)
        let second = await request(String(place), quietBindings)
        if (second.status === 409) {
          // The first attempt could not end its reservation, which therefore ends after a minute.
          await query('update idempotency_keys set created_at = created_at - 61000')
          second = await request(String(place), quietBindings)
        }
        return { first, second }
      })
      const { first, second } = result
      if (first.status !== 200)
        expect([place, first.status, first.body]).toMatchObject([place, 503, { code: 'unavailable' }])
      expect([place, second.status, second.body.code]).toEqual([place, 200, undefined])
      expect([place, growth]).toEqual([place, expected])
      if (first.status === 200 && name !== 'createPlaySession')
        expect({ ...first.body, api_request_id: '' }).toEqual({ ...second.body, api_request_id: '' })
    }
  })
})

describe('a secret that a repeated request returns', () => {
  it('is that of the key which the lost attempt has created or rotated', async () => {
    const { key } = await aTenant()
    const body = { title: 'Server', type: 'server' }
    /** Repeats a request whose change is in the call `place`, and is lost, as are all later calls. */
    const repeat = async (path: string, sent: object, place: number) => {
      const headers = { 'idempotency-key': path }
      const bindings = withFaults((call) => (call === place ? 'after' : call > place ? 'before' : null))
      expect((await call('POST', path, { key, body: sent, headers, bindings })).status).toBe(503)
      await query('update idempotency_keys set created_at = created_at - 61000')
      return ok('POST', path, { key, body: sent, headers })
    }
    const created = await repeat('/v1/api_key', body, 2)
    await ok('GET', '/v1/collection', { key: created.secret as string })
    const rotated = await repeat(`/v1/api_key/${created.api_key_id as string}/rotate`, { grace_seconds: 60 }, 3)
    expect(rotated.secret).not.toBe(created.secret)
    for (const secret of [created.secret, rotated.secret] as string[])
      await ok('GET', '/v1/collection', { key: secret })
  })
})

describe('a lost response', () => {
  const losing = (place: number) => withFaults((call) => (call === place ? 'after' : null))

  it('to a read or to a PUT is not noticed by the caller', async () => {
    const { key, collection_id } = await aTenant()
    for (let place = 1; place < 6; place++) {
      const title = `Title ${place}`
      const path = `/v1/collection/${collection_id}`
      expect((await ok('PUT', path, { key, body: { title }, bindings: losing(place) })).collection.title).toBe(title)
      expect((await ok('GET', path, { key, bindings: losing(place) })).collection.title).toBe(title)
    }
  })

  it('to the request for an upload URL is not noticed, so no parts are left in the bucket without a row', async () => {
    const { key, collection_id } = await aTenant()
    for (let place = 1; place < 8; place++) {
      const path = `/v1/track/${await aWaitingTrack(key, collection_id)}`
      const body = { file_size: 10, fingerprint: 'the file' }
      const started = await ok('POST', `${path}/multipart`, { key, body, bindings: losing(place) })
      const again = await ok('POST', `${path}/multipart`, { key, body })
      expect(again.multipart_upload.id).toBe(started.multipart_upload.id)
      await ok('POST', `${path}/upload`, { key, body: {}, bindings: losing(place) })
    }
  })

  it('to a deletion returns 503, because a repeated deletion would return 404', async () => {
    const { key } = await aTenant()
    const seen = new Set<string>()
    for (let place = 1; place < 6; place++) {
      const { id } = await aCollection(key)
      const { status, headers, body } = await call('DELETE', `/v1/collection/${id}`, { key, bindings: losing(place) })
      if (status === 503)
        expect([headers.get('retry-after'), body.message]).toEqual(['1', expect.stringContaining('may')])
      const left = await query('select 1 from collections where id = ?', id)
      seen.add(`${status} ${left.length}`)
    }
    expect([...seen].toSorted()).toEqual(['200 0', '503 0'])
  })

  it('says how the request can be repeated safely', async () => {
    const { key, collection_id } = await aTenant()
    const down = withFaults(() => 'before')
    const path = `/v1/track`
    const body = { collection_id, file_name: 'a.mp3' }
    const messageOf = async (headers: Record<string, string>) =>
      (await call('POST', path, { key, body, headers, bindings: down })).body.message
    expect(await messageOf({})).toMatch(/only an Idempotency-Key/)
    expect(await messageOf({ 'idempotency-key': 'a' })).toMatch(/with the same Idempotency-Key/)
    expect((await call('GET', path, { key, bindings: down })).body.message).not.toMatch(/may have/)
  })
})

it('pages return a 503 as HTML during an outage', async () => {
  const workspace = await theWorkspace()
  const { slug } = await aShare(workspace.key, workspace.collection_id)
  for (const path of [`/embed/${workspace.play_session_id}`, `/s/${slug}`, `/embed/s/${slug}`]) {
    const request = new Request(`https://tonearm.test${path}`)
    const response = await worker.fetch(
      request,
      withFaults(() => 'before'),
      createExecutionContext(),
    )
    const { status, headers } = response
    expect([status, headers.get('content-type'), headers.get('retry-after')]).toEqual([
      503,
      'text/html; charset=utf-8',
      '1',
    ])
    expect(await response.text()).toContain('try again in a moment')
  }
})

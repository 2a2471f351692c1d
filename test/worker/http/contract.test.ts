import { env, exports } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'

import { newSecret } from '../../../src/adapters/crypto/secret.ts'
import { operations, type OperationName } from '../../../src/contract/index.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { anApiKey, anOrganization, call, ok, query, quietBindings, expectError, UNKNOWN_ID } from '../support/api.ts'
import { cases } from '../support/contract_cases.ts'
import { aWorkspace, pathIn, theWorkspace, type Workspace } from '../support/contract_workspace.ts'
import { keyOf } from '../support/requests.ts'

/** The rules that hold for every operation of the table. The behavior of each operation is tested in the file of its resource. */

const table = Object.entries(operations) as [OperationName, Operation][]
const closed = table.filter(([, { access }]) => access.length > 0)
const open = table.filter(([, { access }]) => access.length === 0)
const ids = ({ params }: Operation) => Object.keys(params?.shape ?? {}).filter((name) => name.endsWith('_id'))
const withIds = table.filter(([, operation]) => ids(operation).length > 0)

const send = (operation: Operation, path: string, key?: string, body?: object) =>
  [operation.method.toUpperCase(), path, { key, body, bindings: quietBindings }] as const
const at = (body: unknown, path: string) =>
  path
    .split('.')
    .filter(Boolean)
    .reduce((value, key) => (value as Record<string, unknown>)[key], body)
const sorted = (keys: string[]) => keys.toSorted((a, b) => a.localeCompare(b)).join(' ')

const isHarmless = ({ method }: Operation) => method === 'get'
const REQUEST_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const eventsByCallers = async () => (await query('select 1 from events where actor is not null')).length

async function expectSpecified(name: OperationName, operation: Operation, workspace: Workspace): Promise<void> {
  const { body: bodyOf, keys, names } = cases[name]
  const path = pathIn({ ...workspace, ...names?.(workspace) }, operation.path)
  const before = await eventsByCallers()
  const body = await ok(...send(operation, path, keyOf(name, workspace), bodyOf?.(workspace)))
  const hasEvent = (await eventsByCallers()) > before
  expect.soft(`${name} ${hasEvent}`).toBe(`${name} ${!isHarmless(operation) && !operation.recordsNoEvent}`)
  for (const [where, expected] of Object.entries(keys)) {
    const found = sorted(Object.keys(at(body, where) as object))
    expect.soft(`${name} ${where}: ${found}`).toBe(`${name} ${where}: ${sorted(expected.split(' '))}`)
  }
  if (operation.is_report) {
    expect.soft(body, name).toBeUndefined()
    return
  }
  expect.soft(operation.response.parse(body), name).toEqual(body)
  expect.soft(body.api_request_id, name).toMatch(REQUEST_ID)
}

describe('operations return exactly the keys of the specification and match their schemas', () => {
  // All reads are in one test, because restoring the workspace takes most of the time.
  it('all operations that only read', async () => {
    const workspace = await theWorkspace()
    for (const [name, operation] of table) if (isHarmless(operation)) await expectSpecified(name, operation, workspace)
  })

  it.each(table.filter(([, operation]) => !isHarmless(operation)))('%s', async (name, operation) =>
    expectSpecified(name, operation, await theWorkspace()),
  )
})

const closedPath = ({ path }: Operation) => path.replace(/\{scope\}/, 'track').replace(/\{\w+\}/g, UNKNOWN_ID)

describe.each(closed)('%s', (_, operation) => {
  const path = closedPath(operation)
  const secret = newSecret('server')

  it('returns 401 without a valid key', async () => {
    const wrongHeaders = {
      'no key': undefined,
      'an empty header': '',
      'no token': 'Bearer',
      'another scheme': `Basic ${secret}`,
      'two tokens': `Bearer ${secret} ${secret}`,
      'nothing like a key': 'Bearer swordfish',
      'a wrong checksum': `Bearer ${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`,
      'a well-formed, unknown key': `Bearer ${secret}`,
    }
    for (const [reason, authorization] of Object.entries(wrongHeaders)) {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
      const answer = await call(operation.method.toUpperCase(), path, { headers, body: operation.body && {} })
      expect([reason, answer.status, answer.body.code]).toEqual([reason, 401, 'unauthorized'])
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer /)
    }
  })
})

// `GET /v1/limits` accepts every kind of key, so it has no key to reject.
describe.each(closed.filter(([, { access }]) => access.length < 4))('%s', (_, operation) => {
  const path = closedPath(operation)

  it('returns 403 for a kind of key that it does not accept', async () => {
    const { key } = await anOrganization()
    const player = (await anApiKey(key)).secret
    const wrong = operation.access.includes('root')
      ? operation.access.includes('server')
        ? player
        : key
      : env.ROOT_KEY
    await expectError(403, 'insufficient_scope', ...send(operation, path, wrong, operation.body && {}))
  })
})

it('a public operation needs no key and ignores any key', async () => {
  const workspace = await theWorkspace()
  for (const [name, operation] of open) {
    await ok(...send(operation, pathIn(workspace, operation.path), 'not a key', cases[name].body?.(workspace)))
  }
})

// All operations are in one test: it changes nothing, because every request is refused.
it('an unknown id, a malformed id and an id of another organization all return the same 404', async () => {
  const [caller, foreign] = [await theWorkspace(), await aWorkspace()]
  for (const [name, operation] of withIds) {
    for (const id of ids(operation)) {
      // A play session's id is a secret, not an id of a tenant; the root key may access all organizations.
      const isSecret = operation.access.length === 0 && id === 'play_session_id'
      const isShared = isSecret || operation.access.includes('root')
      const foreign_ids = isShared ? [] : [foreign[id as keyof Workspace]]
      const answers = []
      for (const value of [UNKNOWN_ID, 'nonsense', '%20', ...foreign_ids]) {
        const path = pathIn({ ...caller, [id]: value }, operation.path)
        const request = send(operation, path, keyOf(name, caller), cases[name].body?.(caller))
        const { api_request_id: _, ...body } = await expectError(404, 'not_found', ...request)
        answers.push(body)
      }
      expect(new Set(answers.map((answer) => JSON.stringify(answer))), `${name} ${id}`).toHaveLength(1)
    }
  }
})

it.each([
  ['createTrack', '/v1/track', (other: Workspace) => ({ collection_id: other.collection_id, file_name: 'a.mp3' })],
  ['createUploadSession', '/v1/upload_session', (other: Workspace) => ({ collection_id: other.collection_id })],
  ['createPlaySession', '/v1/play_session/collection', (other: Workspace) => ({ collection_id: other.collection_id })],
  ['createPlaySession', '/v1/play_session/track', (other: Workspace) => ({ track_id: other.track_id })],
])("%s at %s returns 404 when its body names another organization's resource", async (_, path, body) => {
  const [caller, foreign] = [await theWorkspace(), await aWorkspace()]
  await expectError(404, 'not_found', 'POST', path, { key: caller.key, body: body(foreign) })
})

describe('the API', () => {
  const shape = (path: string) => path.replace(/\{\w+\}/g, '{}')
  const paths = Map.groupBy(table, ([, { path }]) => shape(path))

  it.each([...paths.keys()])('returns 405 and the supported methods for any other method on %s', async (path) => {
    // The pattern of a track's path (`/v1/track/{track_id}`) also matches the path `/v1/track/batch`.
    const matching = [...paths].filter(([other]) => RegExp(`^${other.replaceAll('{}', '[^/]+')}$`).test(path))
    const supported = new Set(matching.flatMap(([, table]) => table.map(([, { method }]) => method.toUpperCase())))
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'].filter((method) => !supported.has(method))) {
      const answer = await call(method, path.replaceAll('{}', UNKNOWN_ID))
      expect([answer.status, answer.body.code]).toEqual([405, 'method_not_allowed'])
      expect(new Set(answer.headers.get('allow')?.split(', '))).toEqual(supported)
    }
  })

  it('returns 404 for an unknown path', async () => {
    for (const path of ['/v1', '/v1/', '/v1/nothing', '/v1/track/x/y/z', '/v2/variant', '/v1/play']) {
      await expectError(404, 'not_found', 'GET', path)
    }
  })

  it('allows cross-origin calls from any page', async () => {
    const preflight = await exports.default.fetch('https://tonearm.test/v1/collection', {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'PUT' },
    })
    expect(preflight.status).toBe(204)
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(', ')
    expect(allowed).toEqual(expect.arrayContaining(['authorization', 'content-type']))
    const methods = preflight.headers.get('access-control-allow-methods')?.split(', ')
    expect(methods).toEqual(expect.arrayContaining(['GET', 'POST', 'PUT', 'DELETE']))
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull()
  })

  it('forbids caching of every response and lets other origins read it, on success and on failure', async () => {
    const { key } = await anOrganization()
    for (const [path, status] of [
      ['/v1/variant', 200],
      ['/v1/variant?limit=0', 400],
      ['/v1/nothing', 404],
    ] as const) {
      const answer = await call('GET', path, { key })
      expect(answer.status).toBe(status)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    }
  })

  it('ignores a request id sent by the client', async () => {
    const { key } = await anOrganization()
    const headers = { 'x-request-id': UNKNOWN_ID }
    const [a, b] = [await ok('GET', '/v1/variant', { key, headers }), await ok('GET', '/v1/variant', { key, headers })]
    expect(a.api_request_id).not.toBe(UNKNOWN_ID)
    expect(a.api_request_id).not.toBe(b.api_request_id)
  })

  it('responds to HEAD as to GET, without a body', async () => {
    const { key } = await anOrganization()
    const request = { method: 'HEAD', headers: { authorization: `Bearer ${key}` } }
    const response = await exports.default.fetch('https://tonearm.test/v1/variant', request)
    expect([response.status, await response.text()]).toEqual([200, ''])
  })
})

it('the Authorization scheme may be in upper, lower or mixed case', async () => {
  const { key } = await anOrganization()
  await ok('GET', '/v1/variant', { headers: { authorization: `bEARER  ${key}` } })
})

it.each(['API_RATE_LIMIT', 'PLAY_RATE_LIMIT'])('Retry-After is sent when the %s is exceeded', async (limit) => {
  const { key } = await anOrganization()
  // The platform's limiter counts requests per minute; this one refuses the first request.
  const bindings = { ...env, [limit]: { limit: async () => ({ success: false }) } }
  const path = limit === 'API_RATE_LIMIT' ? '/v1/variant' : `/v1/play/${UNKNOWN_ID}/${UNKNOWN_ID}`
  const answer = await call('GET', path, { key, bindings })
  expect([answer.status, answer.body.code, answer.headers.get('retry-after')]).toEqual([429, 'rate_limited', '60'])
})

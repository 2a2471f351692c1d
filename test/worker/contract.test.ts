import { env, exports } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'

import { newSecret } from '../../src/adapters/secret.ts'
import { operations, type OperationName } from '../../src/contract/index.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { cases } from './contract_cases.ts'
import { aWorld, pathIn, type World } from './contract_world.ts'
import { anOrganization, call, ok, query, refused, UNKNOWN_ID } from './support.ts'

/** What holds for every operation of the table; what each does is told by the file of its resource. */

const table = Object.entries(operations) as [OperationName, Operation][]
const closed = table.filter(([, { access }]) => access.length > 0)
const open = table.filter(([, { access }]) => access.length === 0)
const ids = ({ params }: Operation) => Object.keys(params?.shape ?? {}).filter((name) => name.endsWith('_id'))
const withIds = table.filter(([, operation]) => ids(operation).length > 0)

const keyFor = ({ access }: Operation, world: World) =>
  access.length === 0 ? undefined : access.includes('server') ? world.key : env.ROOT_KEY
const send = (operation: Operation, path: string, key?: string, body?: object) =>
  [operation.method.toUpperCase(), path, { key, body }] as const
const at = (body: unknown, path: string) =>
  path
    .split('.')
    .filter(Boolean)
    .reduce((value, key) => (value as Record<string, unknown>)[key], body)
const sorted = (keys: string[]) => keys.toSorted((a, b) => a.localeCompare(b)).join(' ')

/** What leaves a world as others need it; all else has one of its own. */
const isHarmless = ({ method }: Operation) => method === 'get'
const REQUEST_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** What writes no event of the caller's, by why (docs/events.md). All else does. */
const WITHOUT_EVENT: Record<string, OperationName[]> = {
  'settings that no receiver mirrors': ['updateOrganization', 'createVariant', 'updateVariant', 'deleteVariant'],
  'the events go with their organization': ['deleteOrganization'],
  'sessions come in masses': ['createPlaySession', 'createUploadSession'],
  'a cover or a file has its event when it is there': [
    'createCollectionCover',
    'createTrackCover',
    'createPlaylistCover',
    'completeTrackUpload',
    'signTrackParts',
    'completeTrackMultipart',
    'deleteTrackMultipart',
    'createSessionMultipart',
    'signSessionParts',
    'completeSessionMultipart',
    'deleteSessionMultipart',
  ],
  'what comes of processing again has its event': ['reprocessTrack', 'reprocessCollection', 'retryFailedTracks'],
  'a delivery tells what became of it': ['replayWebhookDelivery'],
  // That of another one has its event in webhook.test.ts.
  'an endpoint that is active stays so': ['resumeWebhookEndpoint', 'recoverWebhookEndpoint'],
}
const withoutEvent = new Set(Object.values(WITHOUT_EVENT).flat())
const eventsByCallers = async () => (await query('select 1 from events where actor is not null')).length

async function expectSpecified(name: OperationName, operation: Operation, world: World): Promise<void> {
  const { body: bodyOf, keys, names } = cases[name]
  const path = pathIn({ ...world, ...names?.(world) }, operation.path)
  const before = await eventsByCallers()
  const body = await ok(...send(operation, path, keyFor(operation, world), bodyOf?.(world)))
  const hasEvent = (await eventsByCallers()) > before
  expect.soft(`${name} ${hasEvent}`).toBe(`${name} ${!isHarmless(operation) && !withoutEvent.has(name)}`)
  for (const [where, expected] of Object.entries(keys)) {
    const found = sorted(Object.keys(at(body, where) as object))
    expect.soft(`${name} ${where}: ${found}`).toBe(`${name} ${where}: ${sorted(expected.split(' '))}`)
  }
  expect.soft(operation.response.parse(body), name).toEqual(body)
  expect.soft(body.api_request_id, name).toMatch(REQUEST_ID)
}

describe('every operation answers exactly the keys of the specification, and nothing that its schema does not know', () => {
  // One test, because worlds take longest to make.
  it('that only reads', async () => {
    const world = await aWorld()
    for (const [name, operation] of table) if (isHarmless(operation)) await expectSpecified(name, operation, world)
  })

  it.each(table.filter(([, operation]) => !isHarmless(operation)))('%s', async (name, operation) =>
    expectSpecified(name, operation, await aWorld()),
  )
})

const closedPath = ({ path }: Operation) => path.replace(/\{scope\}/, 'track').replace(/\{\w+\}/g, UNKNOWN_ID)

describe.each(closed)('%s', (_, operation) => {
  const path = closedPath(operation)
  const secret = newSecret('server')

  it('is 401 without a key that was given out', async () => {
    const wrongHeaders = {
      'no key': undefined,
      'an empty header': '',
      'no token': 'Bearer',
      'another scheme': `Basic ${secret}`,
      'two tokens': `Bearer ${secret} ${secret}`,
      'nothing like a key': 'Bearer swordfish',
      'a wrong checksum': `Bearer ${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`,
      'a well-formed key that nobody has': `Bearer ${secret}`,
    }
    for (const [what, authorization] of Object.entries(wrongHeaders)) {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
      const answer = await call(operation.method.toUpperCase(), path, { headers, body: operation.body && {} })
      expect([what, answer.status, answer.body.code]).toEqual([what, 401, 'unauthorized'])
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer /)
    }
  })
})

// `GET /v1/limits` is open to every kind.
describe.each(closed.filter(([, { access }]) => access.length < 4))('%s', (_, operation) => {
  const path = closedPath(operation)

  it('is 403 with a key of a kind that it is not open to', async () => {
    const { key } = await anOrganization()
    const wrong = operation.access.includes('root') ? key : env.ROOT_KEY
    await refused(403, 'insufficient_scope', ...send(operation, path, wrong, operation.body && {}))
  })
})

it('needs no key and looks at none where it is open to all', async () => {
  const world = await aWorld()
  for (const [name, operation] of open) {
    await ok(...send(operation, pathIn(world, operation.path), 'not a key', cases[name].body?.(world)))
  }
})

// One test, because all is refused.
it("is 404 for an unknown, a malformed and another organization's id, and does not tell them apart", async () => {
  const [mine, theirs] = [await aWorld(), await aWorld()]
  for (const [name, operation] of withIds) {
    for (const id of ids(operation)) {
      // A play session's id is a secret, not a tenant's; root's are all organizations.
      const isSecret = operation.access.length === 0 && id === 'play_session_id'
      const everybodys = isSecret || operation.access.includes('root')
      const strangers = everybodys ? [] : [theirs[id as keyof World]]
      const answers = []
      for (const value of [UNKNOWN_ID, 'nonsense', '%20', ...strangers]) {
        const path = pathIn({ ...mine, [id]: value }, operation.path)
        const asked = send(operation, path, keyFor(operation, mine), cases[name].body?.(mine))
        const { api_request_id: _, ...body } = await refused(404, 'not_found', ...asked)
        answers.push(body)
      }
      expect(new Set(answers.map((answer) => JSON.stringify(answer))), `${name} ${id}`).toHaveLength(1)
    }
  }
})

it.each([
  ['createTrack', '/v1/track', (other: World) => ({ collection_id: other.collection_id, file_name: 'a.mp3' })],
  ['createUploadSession', '/v1/upload_session', (other: World) => ({ collection_id: other.collection_id })],
  ['createPlaySession', '/v1/play_session/collection', (other: World) => ({ collection_id: other.collection_id })],
  ['createPlaySession', '/v1/play_session/track', (other: World) => ({ track_id: other.track_id })],
])("%s at %s is 404 when its body names another organization's", async (_, path, body) => {
  const [mine, theirs] = [await aWorld(), await aWorld()]
  await refused(404, 'not_found', 'POST', path, { key: mine.key, body: body(theirs) })
})

describe('every path', () => {
  const shape = (path: string) => path.replace(/\{\w+\}/g, '{}')
  const paths = Map.groupBy(table, ([, { path }]) => shape(path))

  it.each([...paths.keys()])(
    '%s answers 405 to methods that it does not know, and says which it knows',
    async (path) => {
      // `batch` stands where a track's id does.
      const same = [...paths].filter(([other]) => RegExp(`^${other.replaceAll('{}', '[^/]+')}$`).test(path))
      const known = new Set(same.flatMap(([, table]) => table.map(([, { method }]) => method.toUpperCase())))
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'].filter((method) => !known.has(method))) {
        const answer = await call(method, path.replaceAll('{}', UNKNOWN_ID))
        expect([answer.status, answer.body.code]).toEqual([405, 'method_not_allowed'])
        expect(new Set(answer.headers.get('allow')?.split(', '))).toEqual(known)
      }
    },
  )

  it('is 404 when there is nothing at it', async () => {
    for (const path of ['/v1', '/v1/', '/v1/nothing', '/v1/track/x/y/z', '/v2/variant', '/v1/play']) {
      await refused(404, 'not_found', 'GET', path)
    }
  })

  it('lets pages of any origin call it', async () => {
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

  it('is never cached and open to other origins, in success and in failure', async () => {
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

  it("makes up the request's id itself", async () => {
    const { key } = await anOrganization()
    const headers = { 'x-request-id': UNKNOWN_ID }
    const [a, b] = [await ok('GET', '/v1/variant', { key, headers }), await ok('GET', '/v1/variant', { key, headers })]
    expect(a.api_request_id).not.toBe(UNKNOWN_ID)
    expect(a.api_request_id).not.toBe(b.api_request_id)
  })

  it('answers HEAD like GET, without a body', async () => {
    const { key } = await anOrganization()
    const request = { method: 'HEAD', headers: { authorization: `Bearer ${key}` } }
    const response = await exports.default.fetch('https://tonearm.test/v1/variant', request)
    expect([response.status, await response.text()]).toEqual([200, ''])
  })
})

it('takes the scheme of the Authorization header in any case', async () => {
  const { key } = await anOrganization()
  await ok('GET', '/v1/variant', { headers: { authorization: `bEARER  ${key}` } })
})

it.each(['API_RATE_LIMIT', 'PLAY_RATE_LIMIT'])(
  'says when to come back to who calls too often for the %s',
  async (limit) => {
    const { key } = await anOrganization()
    // The platform's limiter counts by the minute of the clock; here it says no at once.
    const bindings = { ...env, [limit]: { limit: async () => ({ success: false }) } }
    const path = limit === 'API_RATE_LIMIT' ? '/v1/variant' : `/v1/play/${UNKNOWN_ID}/${UNKNOWN_ID}`
    const answer = await call('GET', path, { key, bindings })
    expect([answer.status, answer.body.code, answer.headers.get('retry-after')]).toEqual([429, 'rate_limited', '60'])
  },
)

import { describe, expect, it } from 'vitest'

import { type OperationName, operations } from '../../../src/contract/index.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { anApiKey, aPlaylist, aPlaySession, call, callPlaySession } from '../support/api.ts'
import { aWorkspace, everyCaller, remakeWaitingTrack, reopenMultiparts, type Workspace } from '../support/callers.ts'
import { aTenant } from '../support/fixtures.ts'
import { keyOf, operationNames, pathValues, requestOf } from '../support/requests.ts'

/**
 * The permissions (docs/architecture.md#keys), written by hand. A bound key may call only the operations listed here: it gets 200 for resources
 * within its binding, and 404 for all other resources, as if they did not exist. A key of another kind gets 403.
 */
const PLAYER = ['createPlaySession', 'getPlaySession', 'listVariants', 'getVariant', 'listLimits']
const UPLOADER = ['createUploadSession', 'getUploadSession', 'createSessionTrack', 'getSessionTrack', 'listLimits']
UPLOADER.push('createSessionMultipart', 'signSessionParts', 'getSessionMultipart', 'completeSessionMultipart')
UPLOADER.push('deleteSessionMultipart', 'deleteSessionTrack')
const ROOT = [
  'listOrganizations',
  'createOrganization',
  'updateOrganization',
  'deleteOrganization',
  'listLimits',
  'getSystem',
  'retryFailedTracks',
]
/** Operations for root and server keys. */
const SHARED = ['listLimits', 'updateOrganization']
const PUBLIC = ['playSession', 'downloadAll', 'playTrack', 'downloadTrack', 'reportHeard']
const publicStatus = (name: OperationName) => ((operations[name] as Operation).is_report ? 204 : 200)

function expected(name: OperationName, caller: string, workspace: Workspace): number {
  if (PUBLIC.includes(name)) return publicStatus(name)
  if (caller === 'signing') return 403
  const inside = /another/.test(caller) && !hasNoOwner(name, workspace) ? 404 : 200
  if (caller === 'root') return ROOT.includes(name) ? 200 : 403
  if (caller.startsWith('server')) return ROOT.includes(name) && !SHARED.includes(name) ? 403 : inside
  if (caller.startsWith('player')) return PLAYER.includes(name) ? inside : 403
  return UPLOADER.includes(name) ? inside : 403
}

/**
 * Operations that delete resources which other operations need. They run last, and the callers that are allowed to call them come after all others.
 */
const LAST = [
  'removePlaylistTrack',
  'replacePlaylistTracks',
  'deletePlaylist',
  'revokeApiKey',
  'deleteVariant',
  'revokeShare',
]
LAST.push('deleteWebhookEndpoint', 'deleteTrack', 'deleteCollection', 'deleteTrash', 'emptyTrash', 'deleteOrganization')
const inOrder = operationNames.toSorted((a, b) => LAST.indexOf(a) - LAST.indexOf(b))

const CODES: Record<number, string> = { 401: 'unauthorized', 403: 'insufficient_scope', 404: 'not_found' }
const unknown_id = '000fffff-ffff-4fff-bfff-ffffffffffff'

/** The status and body of a response, without its request id. They must not reveal whether a resource exists. */
async function answerOf(...args: Parameters<typeof call>) {
  const { status, body } = await call(...args)
  const { api_request_id, ...comparable } = body
  expect(api_request_id).toMatch(/^[0-9a-f-]{36}$/)
  return { status, ...comparable }
}

/** The method, path and body of an operation's request, with every resource id replaced by `id`. */
function requestWithIds(name: OperationName, workspace: Workspace, id: string) {
  const values = pathValues(name, workspace)
  const elsewhere = Object.fromEntries(Object.entries(values).map(([part, v]) => [part, part.endsWith('_id') ? id : v]))
  const request = requestOf(name, workspace, elsewhere)
  const body = request.body && JSON.stringify(request.body).replaceAll(/000[0-9a-f]{5}-[0-9a-f-]{27}/g, id)
  return [operations[name].method.toUpperCase(), request.path, body] as const
}

/**
 * Whether a key of any organization may call the operation, because its request names no resource of an organization. The variant is one of the
 * catalog, and each item of a batch has its own result.
 */
function hasNoOwner(name: OperationName, workspace: Workspace): boolean {
  const { path, body } = requestOf(name, workspace)
  const [, otherPath, otherBody] = requestWithIds(name, workspace, unknown_id)
  const namesNone = path === otherPath && (body && JSON.stringify(body)) === otherBody
  return namesNone || name === 'getVariant' || name === 'changeTracks' || name === 'createShares'
}

describe('access', () => {
  it('matches the permission matrix for every operation and every kind of caller', async () => {
    const workspace = await aWorkspace()
    const { dead, live } = await everyCaller(workspace)
    const statuses: Record<string, Record<string, number>> = {}
    const expectedStatuses: typeof statuses = {}
    for (const name of inOrder) {
      const { path, body } = requestOf(name, workspace)
      const method = operations[name].method.toUpperCase()
      const callers = [
        ...Object.entries(dead).map(
          ([caller, key]) => [caller, key, PUBLIC.includes(name) ? publicStatus(name) : 401] as const,
        ),
        ...Object.entries(live).map(([caller, key]) => [caller, key, expected(name, caller, workspace)] as const),
      ]
      for (const [caller, key, status] of callers.toSorted((a, b) => b[2] - a[2])) {
        const answer = await call(method, path, { key, body })
        // The request used up the multipart upload, and the next caller needs an open one.
        const isUsedUp = answer.status === 200 && /^(create|complete|delete)\w+Multipart$/.test(name)
        if (isUsedUp) await reopenMultiparts(workspace)
        if (answer.status === 200 && name === 'deleteSessionTrack') await remakeWaitingTrack(workspace)
        statuses[name] = { ...statuses[name], [caller]: answer.status }
        expectedStatuses[name] = { ...expectedStatuses[name], [caller]: status }
        if (answer.status >= 400) expect(answer.body).toMatchObject({ ok: false, code: CODES[answer.status] })
      }
    }
    expect(statuses).toEqual(expectedStatuses)
    expect(Object.keys(statuses).length * Object.keys(statuses.getTrack!).length).toBeGreaterThan(700)
  })

  it('is granted exactly as the operation table defines it', () => {
    const kinds = { root: ROOT, player: PLAYER, uploader: UPLOADER, signing: [] as string[] }
    for (const [kind, names] of Object.entries(kinds)) {
      const open = operationNames.filter((name) => (operations[name].access as readonly string[]).includes(kind))
      expect([kind, open.toSorted()]).toEqual([kind, names.toSorted()])
    }
    expect(operationNames.filter((name) => operations[name].access.length === 0)).toEqual(PUBLIC)
  })

  it('does not reveal whether a resource of another organization exists', async () => {
    const workspace = await aWorkspace()
    const { live } = await everyCaller(workspace)
    const foreign = live['server of another organization']
    let compared = 0
    for (const name of inOrder.filter(
      (name) => !hasNoOwner(name, workspace) && keyOf(name, workspace) === workspace.key,
    )) {
      const { path, body } = requestOf(name, workspace)
      const method = operations[name].method.toUpperCase()
      const [, pathOfStrange, bodyOfStrange] = requestWithIds(name, workspace, unknown_id)
      const answer = await answerOf(method, path, { key: foreign, body })
      expect({ name, ...(await answerOf(method, pathOfStrange, { key: foreign, body: bodyOfStrange })) }).toEqual({
        name,
        ...answer,
      })
      const [, malformed] = requestWithIds(name, workspace, 'nonsense')
      if (malformed !== path) {
        expect({ name, ...(await answerOf(method, malformed, { key: foreign, body })) }).toEqual({ name, ...answer })
      }
      compared++
    }
    expect(compared).toBeGreaterThan(30)
  })

  it('does not reveal whether foreign ids in bodies or resources outside a key’s binding exist', async () => {
    const workspace = await aWorkspace()
    const { key } = await aTenant()
    const { live } = await everyCaller(workspace)
    const places = `/v1/playlist/${await aPlaylist(key)}/track`
    const pairs: [method: string, path: string, key: string | undefined, body: (id: string) => object, id: string][] = [
      ['PUT', places, key, (id) => ({ track_ids: [id] }), workspace.track_id],
      ['POST', places, key, (id) => ({ track_ids: [id] }), workspace.track_id],
      ['POST', '/v1/track', key, (id) => ({ collection_id: id, file_name: 'a.mp3' }), workspace.collection_id],
      ['POST', '/v1/upload_session', key, (id) => ({ collection_id: id }), workspace.collection_id],
      ...(['collection', 'track', 'playlist'] as const).flatMap((scope) => {
        const [field, path] = [`${scope}_id` as const, `/v1/play_session/${scope}`]
        const session = (id: string) => ({ [field]: id })
        const bound = (id: string) => ({ title: 'Bound', type: 'player', [field]: id })
        return [
          ['POST', path, key, session, workspace[field]],
          ['POST', '/v1/api_key', key, bound, workspace[field]],
          ['POST', path, live[`player of another ${scope}`], session, workspace[field]],
        ] as [string, string, string, (id: string) => object, string][]
      }),
      [
        'POST',
        '/v1/upload_session',
        live['uploader of another collection'],
        (id) => ({ collection_id: id }),
        workspace.collection_id,
      ],
    ]
    for (const [method, path, caller, body, id] of pairs) {
      const foreign = await answerOf(method, path, { key: caller, body: body(id) })
      expect([path, foreign.status]).toEqual([path, foreign.code === 'not_found' ? 404 : 400])
      expect(await answerOf(method, path, { key: caller, body: body(unknown_id) })).toEqual(foreign)
    }
  })

  it('of a bound player key is limited to the bound resource and its contents', async () => {
    const workspace = await aWorkspace()
    const { live } = await everyCaller(workspace)
    const scopes = ['collection', 'track', 'playlist'] as const
    const statuses: Record<string, number[]> = {}
    for (const bound of scopes) {
      const key = live[`player in ${bound}`]
      statuses[bound] = []
      for (const scope of scopes) {
        const id = workspace[`${scope}_id`]
        const { play_session_id } = await aPlaySession(workspace.key, scope, id)
        const created = await callPlaySession(key, scope, id)
        const read = await call('GET', `/v1/play_session/${play_session_id}`, { key })
        expect(read.status).toBe(created.status)
        statuses[bound].push(created.status)
      }
    }
    // A track belongs to its collection and to a playlist. The collection and the playlist belong to no other resource that a key can be bound to.
    expect(statuses).toEqual({ collection: [200, 200, 404], track: [404, 200, 404], playlist: [404, 200, 200] })
  })

  it('is refused when the key does not list the origin of the page', async () => {
    const { key } = await aTenant()
    const allowed_origins = ['https://example.com', 'http://localhost:3000']
    const { secret } = await anApiKey(key, { allowed_origins })
    const from = async (origin?: string) => {
      const { status, body } = await call('GET', '/v1/variant', { key: secret, headers: origin ? { origin } : {} })
      return body.code ?? status
    }
    const origins = ['https://example.com', 'http://localhost:3000', 'https://EXAMPLE.com']
    expect(await Promise.all([undefined, ...origins].map(from))).toEqual([200, 200, 200, 200])
    const wrong = [
      'https://example.org',
      'http://example.com',
      'https://a.example.com',
      'https://example.com:444',
      'null',
    ]
    expect(new Set(await Promise.all(wrong.map(from)))).toEqual(new Set(['origin_not_allowed']))
    const { status } = await call('GET', '/v1/variant', { key: secret, headers: { origin: 'https://example.org' } })
    expect(status).toBe(403)
  })

  it('requires the Origin header for a POST when the key lists origins', async () => {
    const tenant = await aTenant()
    const { collection_id, key } = tenant
    const { secret } = await anApiKey(key, { allowed_origins: ['https://example.com'] })
    const play = async (headers: Record<string, string>) =>
      (await callPlaySession(secret, 'collection', collection_id, {}, headers)).body
    expect(await play({})).toMatchObject({ code: 'origin_not_allowed', message: expect.stringContaining('Origin') })
    expect(await play({ origin: 'https://example.com' })).toMatchObject({ ok: true })
  })
})

import { describe, expect, it } from 'vitest'

import { type Effect, EFFECTS } from '../../../src/contract/effect.ts'
import { operations, type OperationName } from '../../../src/contract/index.ts'
import type { TrackChange } from '../../../src/contract/track_batch.ts'
import { anApiKey, anOrganization, aWaitingTrack, call, expectError, ok, query } from '../support/api.ts'
import { aWorkspace, remakeWaitingTrack, reopenMultiparts } from '../support/callers.ts'
import { advanceHours, aTenant, batchTracks } from '../support/fixtures.ts'
import { aMultipart } from '../support/multipart_uploads.ts'
import { aProcessedTrack } from '../support/processed_track.ts'
import { operationNames, requestOf } from '../support/requests.ts'
import { serveTranscoder } from '../support/transcoder.ts'

/** Server keys that may do less than everything (docs/keys.md#keys-that-may-do-less). */

/** The effects of operations, written by hand. Every other operation of a server key reads, and is a GET. */
const DELETE = ['deleteCollection', 'deleteTrack', 'deletePlaylist', 'deleteVariant', 'deleteChapters', 'revokeShare']
DELETE.push('replacePlaylistTracks', 'removePlaylistTrack', 'emptyTrash', 'deleteTrash', 'deleteProgress')
DELETE.push('deleteWebhookEndpoint', 'rotateWebhookEndpoint')
const MANAGE = ['createApiKey', 'updateApiKey', 'rotateApiKey', 'revokeApiKey']
const WRITE = ['updateOrganization', 'createCollection', 'updateCollection', 'orderCollectionTracks', 'createTrack']
WRITE.push('updateTrack', 'completeTrackUpload', 'reprocessTrack', 'createUploadSession', 'createSessionTrack')
WRITE.push('deleteSessionTrack', 'createPlaySession', 'createVariant', 'updateVariant', 'createPlaylist')
WRITE.push('updatePlaylist', 'insertPlaylistTracks', 'movePlaylistTrack', 'setChapters', 'createZip')
WRITE.push('reprocessCollection', 'deleteTrackMultipart', 'createSessionMultipart', 'signSessionParts')
WRITE.push('completeSessionMultipart', 'deleteSessionMultipart', 'createShare', 'updateShare', 'createShares')
WRITE.push('restoreTrash', 'createWebhookEndpoint', 'updateWebhookEndpoint', 'testWebhookEndpoint')
WRITE.push('resumeWebhookEndpoint', 'recoverWebhookEndpoint', 'replayWebhookDelivery', 'changeTracks')
WRITE.push('createCollectionCover', 'createTrackCover', 'createPlaylistCover')
/** The track of the workspace has a file, which these would replace. */
const REPLACE = ['renewTrackUpload', 'createTrackMultipart', 'signTrackParts', 'completeTrackMultipart']

const COMBINATIONS: Effect[][] = [
  ['read'],
  ['write'],
  ['delete'],
  ['read', 'write'],
  ['read', 'delete'],
  ['write', 'delete'],
  ['read', 'write', 'delete'],
]

function effectOf(name: OperationName): Effect {
  if (DELETE.includes(name)) return 'delete'
  return WRITE.includes(name) || REPLACE.includes(name) ? 'write' : 'read'
}

/** The rights that a key lacks for a request. That a file would be replaced is found after the effect of the operation. */
function lackingOf(name: OperationName, may: Effect[], replaces: boolean): Effect[] {
  const lacking = (MANAGE.includes(name) ? EFFECTS : [effectOf(name)]).filter((effect) => !may.includes(effect))
  return lacking.length === 0 && replaces && !may.includes('delete') ? ['delete'] : lacking
}

const ofServers = operationNames.filter((name) => (operations[name].access as readonly string[]).includes('server'))
/** Operations that delete resources which others need come last. */
const LAST = ['removePlaylistTrack', 'replacePlaylistTracks', 'deletePlaylist', 'revokeApiKey', 'deleteVariant']
LAST.push('revokeShare', 'deleteWebhookEndpoint', 'deleteTrack', 'deleteCollection', 'deleteTrash', 'emptyTrash')
const inOrder = ofServers.toSorted((a, b) => LAST.indexOf(a) - LAST.indexOf(b))

/** The secret of a server key that may do only this. */
const aKey = async (key: string, may: Effect[]) => (await anApiKey(key, { type: 'server', may })).secret

const aMaker = async () => {
  const tenant = await aTenant()
  const full = tenant.key
  return { ...tenant, full, maker: await aKey(full, ['read', 'write']) }
}

describe('a server key that may do less', () => {
  it('gets 403 with the missing rights for every operation that needs more, and may call all others', async () => {
    const workspace = await aWorkspace()
    const keys = await Promise.all(COMBINATIONS.map((may) => aKey(workspace.key, may)))
    const found: string[] = []
    const expected: string[] = []
    for (const name of inOrder) {
      const { path, body } = requestOf(name, workspace)
      let isFirst = true
      for (const [at, may] of COMBINATIONS.entries()) {
        const answer = await call(operations[name].method.toUpperCase(), path, { key: keys[at], body })
        // The first request to complete the upload gave the track of the session its file.
        const replaces = REPLACE.includes(name) || (name === 'completeSessionMultipart' && !isFirst)
        const lacking = lackingOf(name, may, replaces)
        const caller = `${name} ${may.join()}`
        const { code, missing } = answer.body
        if (lacking.length > 0) {
          found.push(`${caller} ${answer.status} ${code} ${missing.join()}`)
          expected.push(`${caller} 403 insufficient_scope ${lacking.join()}`)
          continue
        }
        // The first key that may has used up what the request needs, such as a track to delete.
        found.push(`${caller} ${isFirst ? answer.status : code === 'insufficient_scope' ? code : 'allowed'}`)
        expected.push(`${caller} ${isFirst ? 200 : 'allowed'}`)
        isFirst = false
        if (answer.status !== 200) continue
        if (/^(create|complete|delete)\w+Multipart$/.test(name)) await reopenMultiparts(workspace)
        if (name === 'deleteSessionTrack') await remakeWaitingTrack(workspace)
      }
    }
    expect(found).toEqual(expected)
    const others = ofServers.filter((name) => ![...DELETE, ...MANAGE, ...WRITE, ...REPLACE].includes(name))
    expect(others.filter((name) => operations[name].method !== 'get')).toEqual([])
    expect(found.length).toBeGreaterThan(500)
  })

  it('makes a batch only if it may make all of its changes', async () => {
    const { full, collection_id } = await aMaker()
    const track_ids = await Promise.all(Array.from({ length: 4 }, () => aWaitingTrack(full, collection_id)))
    const actions: Record<TrackChange['action'], [Effect, object]> = {
      update: ['write', { title: 'New' }],
      move: ['write', { collection_id }],
      delete: ['delete', {}],
      restore: ['write', {}],
      reprocess: ['write', {}],
    }
    const changes = Object.entries(actions).map(([action, [effect, body]], at) => ({
      effect,
      change: { action, track_id: track_ids[at % 4]!, ...body },
    }))
    for (const may of COMBINATIONS) {
      const key = await aKey(full, may)
      for (const { effect, change } of changes) {
        const { status, body } = await call('POST', '/v1/track/batch', { key, body: { changes: [change] } })
        const isAllowed = may.includes(effect)
        expect([may, change.action, status, body.missing]).toEqual([
          may,
          change.action,
          isAllowed ? 200 : 403,
          isAllowed ? undefined : [effect],
        ])
      }
    }
    const [kept, deleted] = [await aWaitingTrack(full, collection_id), await aWaitingTrack(full, collection_id)]
    const mixed = [
      { action: 'update', track_id: kept, title: 'Changed' },
      { action: 'delete', track_id: deleted },
    ]
    const maker = await aKey(full, ['read', 'write'])
    const refused = await expectError(403, 'insufficient_scope', 'POST', '/v1/track/batch', {
      key: maker,
      body: { changes: mixed },
    })
    expect(refused).toMatchObject({ missing: ['delete'] })
    expect((await ok('GET', `/v1/track/${kept}`, { key: full })).track.player_title).not.toBe('Changed')
    expect(await batchTracks(full, mixed)).toMatchObject({ done: 2 })
  })

  it('sends the first file and cover, and replaces none', async () => {
    serveTranscoder()
    const { full, maker, collection_id } = await aMaker()
    const track_id = await aProcessedTrack(full, collection_id)
    const waiting = await aWaitingTrack(full, collection_id)
    const start = (id: string, key: string) =>
      call('POST', `/v1/track/${id}/multipart`, { key, body: { file_size: 10, fingerprint: 'the file' } })
    const renew = (id: string) => call('POST', `/v1/track/${id}/upload`, { key: maker, body: {} })
    expect([(await renew(waiting)).status, (await start(waiting, maker)).status]).toEqual([200, 200])
    for (const { status, body } of [await renew(track_id), await start(track_id, maker)])
      expect([status, body.missing]).toEqual([403, ['delete']])
    // The parts of a replacement that another key has started.
    await start(track_id, full)
    expect((await start(track_id, maker)).body.missing).toEqual(['delete'])
    const id = await aMultipart(full, track_id)
    for (const part of ['part', 'complete']) {
      const at = `/v1/track/${track_id}/multipart/${id}/${part}`
      expect((await call('POST', at, { key: maker, body: {} })).body.missing).toEqual(['delete'])
    }
    // A file that has come since.
    const own = await aMultipart(maker, waiting)
    const complete = (key: string) => call('POST', `/v1/track/${waiting}/multipart/${own}/complete`, { key, body: {} })
    await query(`update tracks set source_suffix = '.another' where id = ?`, waiting)
    expect((await complete(maker)).body.missing).toEqual(['delete'])
    await query('update tracks set source_suffix = null where id = ?', waiting)
    expect([(await complete(maker)).status, (await complete(maker)).status]).toEqual([200, 200])

    const { id: playlist_id } = await ok('POST', '/v1/playlist', { key: maker, body: { title: 'P' } }).then(
      ({ playlist }) => playlist,
    )
    for (const [table, path] of [
      ['collections', `/v1/collection/${collection_id}/cover`],
      ['tracks', `/v1/track/${track_id}/cover`],
      ['playlists', `/v1/playlist/${playlist_id}/cover`],
    ] as const) {
      await ok('POST', path, { key: maker })
      await query(`update ${table} set cover_path = 'covers/here'`)
      expect((await call('POST', path, { key: maker })).body.missing).toEqual(['delete'])
      await ok('POST', path, { key: full })
    }
  })

  it('may keep progress longer, but not end it', async () => {
    const { full, maker, organization_id } = await aMaker()
    const keep = (key: string, progress_days: number) =>
      call('PUT', `/v1/organization/${organization_id}`, { key, body: { progress_days } })
    const { progress_days } = (await ok('GET', `/v1/organization/${organization_id}`, { key: full })).organization
    expect((await keep(maker, progress_days - 1)).body.missing).toEqual(['delete'])
    for (const [key, days] of [
      [maker, progress_days],
      [full, progress_days - 1],
      [maker, progress_days],
    ] as const)
      expect((await keep(key, days)).status).toBe(200)
  })

  it('gets no URL that replaces a file by repeating an old request', async () => {
    serveTranscoder()
    const { full, maker, collection_id } = await aMaker()
    const headers = { 'idempotency-key': 'the-same' }
    const repeat = async (path: string, body: object) => (await call('POST', path, { key: maker, body, headers })).body
    const track = { collection_id, file_name: 'a.mp3', file_size: 10 }
    const first = await repeat('/v1/track', track)
    await query(
      `update tracks set source_suffix = upload_suffix, cover_path = 'covers/here' where id = ?`,
      first.track_id,
    )
    const other = { ...headers, 'idempotency-key': 'other' }
    const made = await ok('POST', '/v1/collection', { key: maker, body: { title: 'C' }, headers: other })
    await query(`update collections set cover_path = 'covers/here' where id = ?`, made.collection_id)
    advanceHours(2)
    const later = await repeat('/v1/track', track)
    expect(later.track_upload).toEqual(first.track_upload)
    expect(later.track_cover_upload).toEqual(first.track_cover_upload)
    const again = await ok('POST', '/v1/collection', { key: maker, body: { title: 'C' }, headers: other })
    expect(again.collection_cover_upload).toEqual(made.collection_cover_upload)
    // The key of the request is part of its identity, so another key repeats nothing.
    const byOther = await ok('POST', '/v1/collection', { key: full, body: { title: 'C' }, headers: other })
    expect(byOther.collection_id).not.toBe(made.collection_id)
  })

  it('is narrowed at once, also for requests that it repeats', async () => {
    const { key } = await anOrganization()
    const { api_key_id, secret } = await anApiKey(key, { type: 'server' })
    const headers = { 'idempotency-key': 'the-same' }
    const send = () => call('POST', '/v1/api_key', { key: secret, body: { title: 'Page', type: 'player' }, headers })
    expect((await send()).body.secret).toBeDefined()
    const { api_key } = await ok('PUT', `/v1/api_key/${api_key_id}`, { key, body: { may: ['write', 'read'] } })
    expect(api_key.may).toEqual(['read', 'write'])
    const { status, body } = await send()
    expect([status, body.missing, body.secret]).toEqual([403, ['delete'], undefined])
    expect(body.message).toBe(
      'This request needs a server key that may read, write, and delete; this one may only read and write',
    )
    await ok('PUT', `/v1/api_key/${api_key_id}`, { key, body: { may: EFFECTS } })
    expect((await send()).body.secret).toBeDefined()
  })

  it('cannot widen itself, make or rotate keys, or learn a secret', async () => {
    const { key } = await anOrganization()
    for (const may of COMBINATIONS.slice(0, -1)) {
      const { api_key_id, secret } = await anApiKey(key, { type: 'server', may })
      const attempts = [
        ['PUT', `/v1/api_key/${api_key_id}`, { may: [...EFFECTS] }],
        ['PUT', `/v1/api_key/${api_key_id}`, {}],
        ['POST', '/v1/api_key', { title: 'Wide', type: 'server' }],
        ['POST', '/v1/api_key', { title: 'Same', type: 'server', may }],
        ['POST', '/v1/api_key', { title: 'Page', type: 'player' }],
        ['POST', `/v1/api_key/${api_key_id}/rotate`, { grace_seconds: 0 }],
        ['DELETE', `/v1/api_key/${api_key_id}`, undefined],
      ] as const
      for (const [method, path, body] of attempts)
        await expectError(403, 'insufficient_scope', method, path, { key: secret, body })
      expect(await query('select may from api_keys where id = ?', api_key_id)).toEqual([{ may: JSON.stringify(may) }])
    }
  })

  it('reads itself', async () => {
    const { key } = await anOrganization()
    const { secret, api_key } = await anApiKey(key, { type: 'server', may: ['read'] })
    expect((await ok('GET', '/v1/api_key/self', { key: secret })).api_key).toEqual(api_key)
    expect((await ok('GET', '/v1/api_key/self', { key })).api_key.may).toEqual([...EFFECTS])
    await expectError(403, 'insufficient_scope', 'GET', '/v1/api_key/self', { key: (await anApiKey(key)).secret })
  })
})

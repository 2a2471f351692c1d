import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { anApiKey, anOrganization, call, ok, query, readTrack } from '../support/api.ts'
import { aTenant, advanceHours, runSweep } from '../support/fixtures.ts'
import { aProcessedTrack } from '../support/processed_track.ts'
import { eventsOf } from '../support/tenant_events.ts'
import { serveTranscoder } from '../support/transcoder.ts'

const headers = { 'idempotency-key': 'the-same' }

afterEach(() => void vi.useRealTimers())

describe('a replayed response', () => {
  it('has new handles when the handles of the first response have expired', async () => {
    const { key, collection_id } = await aTenant()
    const body = { collection_id, file_name: 'a.mp3', file_size: 9 }
    const send = async () => (await call('POST', '/v1/track', { key, body, headers })).body
    const first = await send()
    expect((await send()).track_upload).toEqual(first.track_upload)
    advanceHours(2)
    const later = await send()
    expect(later.track_id).toBe(first.track_id)
    for (const handle of ['track_upload', 'track_cover_upload'] as const) {
      expect(later[handle].upload_url).not.toBe(first[handle].upload_url)
      expect(Date.parse(later[handle].expires_at)).toBeGreaterThan(Date.now())
    }
    expect((await eventsOf(key)).filter(({ type }) => type.startsWith('track.'))).toMatchObject([
      { type: 'track.created' },
    ])
    // The signature of the new URL also includes the announced size of the file.
    expect(later.track_upload.upload_url).toMatch(/SignedHeaders=content-length/)
    expect(await query('select id from tracks')).toHaveLength(1)
    await env.MEDIA.put(
      decodeURIComponent(new URL(later.track_upload.upload_url).pathname.split(env.S3_BUCKET)[1]!.slice(1)),
      'RIFF\0audio',
    )
    expect((await readTrack(key, first.track_id)).status).toBe('processing')
  })

  it.each([
    ['collection', '/v1/collection'],
    ['playlist', '/v1/playlist'],
  ])('has a new cover handle for a %s when the first handle has expired', async (owner, path) => {
    const { key } = await anOrganization()
    const send = async () =>
      (await ok('POST', path, { key, body: { title: 'Once' }, headers }))[`${owner}_cover_upload`]
    const first = await send()
    advanceHours(2)
    const second = await send()
    expect(second.upload_url).not.toBe(first.upload_url)
    expect(Date.parse(second.expires_at)).toBeGreaterThan(Date.now())
    const cover = (url: string) =>
      call('POST', new URL(url).pathname, { body: 'no image', headers: { 'content-type': 'image/png' } })
    expect((await cover(first.upload_url)).body.code).toBe('upload_link_expired')
    expect((await cover(second.upload_url)).body.code).toBe('unsupported_image')
  })

  it('has status 404 when the resource was deleted and a new handle would be needed', async () => {
    const { key } = await anOrganization()
    const send = () => call('POST', '/v1/collection', { key, body: { title: 'Once' }, headers })
    const { collection_id } = (await send()).body
    await ok('DELETE', `/v1/collection/${collection_id}`, { key })
    advanceHours(2)
    expect((await send()).status).toBe(404)
  })

  it('of createApiKey contains the secret, which is stored in D1 only in encrypted form', async () => {
    const { key } = await anOrganization()
    const send = () => ok('POST', '/v1/api_key', { key, body: { title: 'Page', type: 'player' }, headers })
    const first = await send()
    const [row] = await query('select * from idempotency_keys')
    expect(JSON.stringify(row)).not.toContain(first.secret.slice(6, 30))
    expect(JSON.stringify(row)).not.toContain(first.api_key_id)
    expect((await send()).secret).toBe(first.secret)
    await ok('GET', '/v1/limits', { key: first.secret })
    expect((await ok('GET', '/v1/api_key', { key })).count).toBe(2)
  })

  it('of createPlaySession has freshly signed URLs, and has status 410 when the session has ended', async () => {
    serveTranscoder()
    const { key, collection_id } = await aTenant()
    const track_id = await aProcessedTrack(key, collection_id)
    const body = { track_id, expires_in: 7200 }
    const send = () => call('POST', '/v1/play_session/track', { key, body, headers })
    const first = (await send()).body
    advanceHours(1.5)
    const second = (await send()).body
    const { play_session_id, play_session, expires_at } = second
    expect({ play_session_id, play_session, expires_at }).toEqual({
      play_session_id: first.play_session_id,
      play_session: first.play_session,
      expires_at: first.expires_at,
    })
    const signed = (answer: typeof first) =>
      new URL(answer.first_track!.variants[0]!.url).searchParams.get('X-Amz-Date')
    expect(signed(second)).not.toBe(signed(first))
    advanceHours(1)
    expect((await send()).body.code).toBe('session_expired')
    expect(await query('select id from play_sessions')).toHaveLength(1)
  })

  it('is only sent to the key that sent the first request', async () => {
    const { key } = await anOrganization()
    const { secret } = await anApiKey(key, { type: 'server' })
    const send = (by: string) => ok('POST', '/v1/collection', { key: by, body: { title: 'Once' }, headers })
    const ids = [await send(key), await send(secret), await send(key)].map(({ collection_id }) => collection_id)
    expect(new Set(ids).size).toBe(2)
    expect(ids[2]).toBe(ids[0])
  })

  it('is stored for a day and then deleted', async () => {
    const { key } = await anOrganization()
    const send = async () =>
      (await ok('POST', '/v1/collection', { key, body: { title: 'Once' }, headers })).collection_id
    const first = await send()
    advanceHours(23)
    await runSweep()
    expect(await send()).toBe(first)
    advanceHours(1.5)
    expect(await send()).not.toBe(first)
    expect(await query('select id from idempotency_keys')).toHaveLength(1)
    advanceHours(25)
    await runSweep()
    expect(await query('select id from idempotency_keys')).toEqual([])
  })
})

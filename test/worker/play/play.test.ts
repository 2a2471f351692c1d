import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'

import { collections, tracks } from '../../../src/adapters/db/schema/library.ts'
import { playSessions } from '../../../src/adapters/db/schema/play_sessions.ts'
import {
  aCollection,
  aPlaySession,
  aTrack,
  call,
  CREATOR,
  db,
  HOUR,
  indexesOf,
  ok,
  expectError,
  UNKNOWN_ID,
  errorPaths,
} from '../support/api.ts'
import { aReadyTrack, aTenant } from '../support/fixtures.ts'
import { isSignedFor, signedParts } from '../support/signature.ts'

let key: string
let collection_id: string
beforeEach(async () => {
  ;({ key, collection_id } = await aTenant())
})
const endAgo = (id: string, milliseconds: number) =>
  db
    .update(playSessions)
    .set({ expires_at: Date.now() - milliseconds })
    .where(eq(playSessions.id, id))

describe('a play session', () => {
  it('plays for an hour, without downloads, and its default variants are the transcodes with AAC first', async () => {
    const before = Date.now()
    const body = await aPlaySession(key, 'collection', collection_id)
    expect(body.play_session).toEqual({
      id: body.play_session_id,
      creator_id: null,
      organization_index: '',
      metadata: {},
      variants: ['aac-160', 'mp3-128', 'opus-96', 'lossless'],
      is_downloadable: false,
      expires_at: body.expires_at,
    })
    const expires_at = Date.parse(body.expires_at)
    expect(expires_at).toBeGreaterThan(before + HOUR - 1000)
    expect(expires_at).toBeLessThanOrEqual(Date.now() + HOUR)
    expect([body.tracks, body.first_track]).toEqual([[], null])
  })

  it('lists the tracks of a collection in their order, and contains the view of the first playable track', async () => {
    const coming = await aTrack(key, collection_id, { file_name: 'coming.mp3' })
    const first = await aReadyTrack(key, collection_id, { player_title: 'So What' })
    const failed = await aTrack(key, collection_id)
    await aReadyTrack(key, collection_id, { file_name: 'Blue in Green.flac' })
    await db.update(tracks).set({ status: 'failed' }).where(eq(tracks.id, failed.id))
    await db.update(tracks).set({ status: 'processing', job_id: 'job' }).where(eq(tracks.id, coming.id))
    const body = await aPlaySession(key, 'collection', collection_id)
    expect(body.tracks).toMatchObject([
      { player_title: 'coming', order: 1, duration: 0 },
      { player_title: 'So What', order: 2, duration: 12.346 },
      { player_title: 'Blue in Green', order: 4 },
    ])
    expect(body.first_track).toMatchObject({ track_id: first, track: { status: 'ready', order: 2 } })
    expect(indexesOf(body.first_track!)).toEqual(['aac-160', 'mp3-128', 'opus-96'])
  })

  it('plays a single track', async () => {
    await aReadyTrack(key, collection_id)
    const track_id = await aReadyTrack(key, collection_id)
    const body = await aPlaySession(key, 'track', track_id)
    expect(body.tracks).toMatchObject([{ id: track_id, order: 2 }])
    expect(body.first_track!.track_id).toBe(track_id)
  })

  it('plays the requested variants in the requested order, without duplicates and without those that a track lacks', async () => {
    const track_id = await aReadyTrack(key, collection_id)
    const variants = ['waveform', 'mp3-128', 'lossless', 'waveform', 'original']
    const body = await aPlaySession(key, 'track', track_id, { variants })
    expect(body.play_session.variants).toEqual(['waveform', 'mp3-128', 'lossless', 'original'])
    expect(indexesOf(body.first_track!)).toEqual(['waveform', 'mp3-128', 'original'])
  })

  it('treats an empty list of variants as the default list', async () => {
    const body = await aPlaySession(key, 'collection', collection_id, { variants: [] })
    expect(body.play_session.variants[0]).toBe('aac-160')
  })

  it.each([60, 86400, 60.9])('ends after %s seconds, rounded down', async (expires_in) => {
    const before = Date.now()
    const expires_at = Date.parse((await aPlaySession(key, 'collection', collection_id, { expires_in })).expires_at)
    // The end is rounded down to a whole second.
    expect(expires_at).toBeGreaterThan(before + Math.floor(expires_in - 1) * 1000)
    expect(expires_at % 1000).toBe(0)
    expect(expires_at).toBeLessThanOrEqual(Date.now() + Math.floor(expires_in) * 1000)
  })

  it('is returned with the fields that it was created with, and with its current tracks', async () => {
    const fields = { creator_id: CREATOR, organization_index: 'web', metadata: { a: 1 } }
    const { expires_at: _, ...created } = await aPlaySession(key, 'collection', collection_id, {
      ...fields,
      is_downloadable: true,
    })
    expect(created.play_session).toMatchObject({ ...fields, is_downloadable: true })
    const get = () => ok('GET', `/v1/play_session/${created.play_session_id}`, { key })
    expect((await get()).play_session).toEqual(created.play_session)
    const track_id = await aReadyTrack(key, collection_id)
    expect(await get()).toMatchObject({ tracks: [{ id: track_id }], first_track: { track_id } })
  })

  it('signs URLs that R2 accepts, for at most an hour and no longer than the session', async () => {
    const track_id = await aReadyTrack(key, collection_id)
    await db.update(collections).set({ cover_path: 'media/cover' }).where(eq(collections.id, collection_id))
    for (const [expires_in, seconds] of [
      [60, 60],
      [86400, 3600],
    ] as const) {
      const { first_track, expires_at } = await aPlaySession(key, 'track', track_id, { expires_in })
      const covers = Object.values<{ url: string }>(first_track!.cover_image)
      for (const { url } of [...first_track!.variants, ...covers]) {
        const { expires, ends } = signedParts(url)
        expect(expires).toBeLessThanOrEqual(3600)
        expect(ends).toBeLessThanOrEqual(Date.parse(expires_at))
        // The same URL may have been issued some time ago, so that the browser can use its cached file.
        expect(ends).toBeGreaterThan(Date.now() + 600 * seconds)
        expect(await isSignedFor('GET', url)).toBe(true)
      }
      for (const { path, url } of first_track!.variants) expect(signedParts(url).key).toBe(path)
    }
  })

  it('lists no tracks when its resource is deleted', async () => {
    await aReadyTrack(key, collection_id)
    const { play_session_id } = await aPlaySession(key, 'collection', collection_id)
    await ok('DELETE', `/v1/collection/${collection_id}`, { key })
    expect(await ok('GET', `/v1/play_session/${play_session_id}`, { key })).toMatchObject({
      tracks: [],
      first_track: null,
    })
  })
})

describe('an invalid or expired play session', () => {
  it.each([59, 59.9, 86401, 86400.1, 0, -60, '3600', true, null])(
    'returns 400 for expires_in %j',
    async (expires_in) => {
      const body = { collection_id, expires_in }
      const answer = await expectError(400, 'invalid_request', 'POST', '/v1/play_session/collection', { key, body })
      expect(errorPaths(answer)).toEqual(['expires_in'])
    },
  )

  it.each(['collection', 'track', 'playlist'])('returns 400 without the id of the %s', async (scope) => {
    const answer = await expectError(400, 'invalid_request', 'POST', `/v1/play_session/${scope}`, { key, body: {} })
    expect(errorPaths(answer)).toEqual([`${scope}_id`])
  })

  it('returns 400 for the id of a resource of another scope', async () => {
    const answer = await expectError(400, 'invalid_request', 'POST', '/v1/play_session/track', {
      key,
      body: { collection_id },
    })
    expect(errorPaths(answer)).toEqual(['track_id'])
  })

  it('returns 404 for a resource that does not exist', async () => {
    for (const scope of ['collection', 'track', 'playlist']) {
      const body = { [`${scope}_id`]: UNKNOWN_ID }
      await expectError(404, 'not_found', 'POST', `/v1/play_session/${scope}`, { key, body })
    }
  })

  it('returns 400 for a scope other than collection, track and playlist', async () => {
    const answer = await expectError(400, 'invalid_request', 'POST', '/v1/play_session/album', {
      key,
      body: { collection_id },
    })
    expect(errorPaths(answer)).toEqual(['scope'])
  })

  it('returns the name of an unknown variant in the error', async () => {
    const body = { collection_id, variants: ['aac-160', 'wav-9000'] }
    const answer = await expectError(400, 'unknown_variant', 'POST', '/v1/play_session/collection', { key, body })
    expect(errorPaths(answer)).toEqual(['variants.1'])
  })

  it('cannot be updated or deleted', async () => {
    const { play_session_id: id } = await aPlaySession(key, 'collection', collection_id)
    await expectError(405, 'method_not_allowed', 'PUT', `/v1/play_session/${id}`, { key, body: {} })
    const { headers } = await call('POST', `/v1/play/${id}/download`)
    expect(headers.get('allow')).toBe('GET')
    await expectError(405, 'method_not_allowed', 'DELETE', `/v1/play_session/${id}`, { key })
  })

  it('returns 410 for a day after its end, then 404', async () => {
    const track_id = await aReadyTrack(key, collection_id)
    const { play_session_id: id } = await aPlaySession(key, 'track', track_id, { is_downloadable: true })
    const reads = [
      `/v1/play_session/${id}`,
      `/v1/play/${id}/${track_id}`,
      `/v1/play/${id}/${track_id}/aac-160/download`,
    ]
    const all = async (status: number, code: 'session_expired' | 'not_found') => {
      for (const path of reads) await expectError(status, code, 'GET', path, { key })
    }
    await endAgo(id, 1)
    await all(410, 'session_expired')
    await endAgo(id, 24 * HOUR)
    await all(404, 'not_found')
  })
})

describe('a track in a session', () => {
  it('returns 404 when it is in another collection or deleted', async () => {
    const other = await aCollection(key)
    const [inside, elsewhere] = [await aReadyTrack(key, collection_id), await aReadyTrack(key, other.id)]
    const { play_session_id: id } = await aPlaySession(key, 'collection', collection_id)
    await ok('GET', `/v1/play/${id}/${inside}`)
    await expectError(404, 'not_found', 'GET', `/v1/play/${id}/${elsewhere}`)
    const single = await aPlaySession(key, 'track', elsewhere)
    await expectError(404, 'not_found', 'GET', `/v1/play/${single.play_session_id}/${inside}`)
    await ok('DELETE', `/v1/track/${inside}`, { key })
    await expectError(404, 'not_found', 'GET', `/v1/play/${id}/${inside}`)
  })

  it.each(['initializing', 'processing', 'fallback_processing', 'failed'] as const)(
    'returns 409 while its status is %s',
    async (status) => {
      const track = await aTrack(key, collection_id)
      await db.update(tracks).set({ status, job_id: 'job' }).where(eq(tracks.id, track.id))
      const { play_session_id: id } = await aPlaySession(key, 'collection', collection_id)
      await expectError(409, 'track_not_ready', 'GET', `/v1/play/${id}/${track.id}`)
    },
  )

  it('continues to play while it is processed again', async () => {
    const track_id = await aReadyTrack(key, collection_id)
    const { play_session_id: id } = await aPlaySession(key, 'track', track_id)
    await db.update(tracks).set({ status: 'processing' }).where(eq(tracks.id, track_id))
    expect(indexesOf(await ok('GET', `/v1/play/${id}/${track_id}`))).toEqual(['aac-160', 'mp3-128', 'opus-96'])
  })
})

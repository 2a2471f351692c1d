import { beforeEach, describe, expect, it } from 'vitest'

import { call, errorPaths, expectError, HOUR, ok, query } from '../support/api.ts'
import { aTenantWithTrack, batchTracks } from '../support/fixtures.ts'
import { aFeed, anEpisode, FEED, FEED_PATH, open, setEpisode } from '../support/podcast.ts'
import { weakenPasswordHashes } from '../support/share_visitor.ts'

/** The settings of feeds and episodes, and the check of a feed. */

let tenant: Awaited<ReturnType<typeof aTenantWithTrack>>
let key: string
let collection_id: string
let track_id: string

beforeEach(async () => {
  tenant = await aTenantWithTrack()
  ;({ key, collection_id, track_id } = tenant)
})

describe('the settings of a feed', () => {
  it('have defaults, are replaced as a whole, and are in every answer', async () => {
    const share = await aFeed(tenant)
    const empty = { author: null, email: null, language: null, category: null, link: null, copyright: null }
    const defaults = { ...empty, explicit: false, type: 'episodic', block: false, locked: true, medium: 'podcast' }
    expect(share).toMatchObject({ feed: defaults, feed_url: `https://tonearm.test${FEED_PATH}` })
    const path = `/v1/share/${share.id}`
    expect((await ok('PUT', path, { key, body: { feed: FEED } })).share.feed).toEqual(FEED)
    expect((await ok('PUT', path, { key, body: { feed: { author: 'B' } } })).share.feed).toEqual({
      ...defaults,
      author: 'B',
    })
    expect((await ok('GET', '/v1/share', { key })).shares[0]!.feed).toEqual({ ...defaults, author: 'B' })
    expect((await ok('PUT', path, { key, body: { feed: null } })).share).toMatchObject({ feed: null, feed_url: null })
  })

  it('are refused for a share with a password or sites, or without downloads', async () => {
    const body = { scope: 'collection', id: collection_id, is_downloadable: true, feed: {} }
    const conflicts = [{ is_downloadable: false }, { password: 'so what?' }, { allowed_origins: ['https://a.example'] }]
    for (const conflict of conflicts) {
      const created = await expectError(400, 'invalid_request', 'POST', '/v1/share', {
        key,
        body: { ...body, ...conflict },
      })
      expect(errorPaths(created)).toEqual(['feed'])
    }
    const { id } = await aFeed(tenant)
    for (const conflict of conflicts)
      await expectError(400, 'invalid_request', 'PUT', `/v1/share/${id}`, { key, body: conflict })
    await ok('PUT', `/v1/share/${id}`, { key, body: { feed: null, password: 'so what?' } })
    // Of two updates at the same time, each may be valid alone.
    await query(`update shares set feed = '{}' where id = ?`, id)
    await weakenPasswordHashes()
    expect((await open(FEED_PATH)).status).toBe(404)
  })

  it.each([
    [{ category: 'Arts > Cricket' }, 'category'],
    [{ language: 'English please' }, 'language'],
    [{ email: 'nobody' }, 'email'],
    [{ link: 'javascript:alert(1)' }, 'link'],
    [{ type: 'daily' }, 'type'],
    [{ author: '' }, 'author'],
  ])('refuse %o', async (feed, field) => {
    const body = { scope: 'collection', id: collection_id, is_downloadable: true, feed }
    const answer = await expectError(400, 'invalid_request', 'POST', '/v1/share', { key, body })
    expect(errorPaths(answer)).toEqual([`feed.${field}`])
    expect(answer.message.length).toBeLessThan(200)
  })
})

describe('the episode of a track', () => {
  const EMPTY = { season: null, number: null, type: 'full', explicit: null, description: null, published_at: null }

  it('is set when a track is created or updated, alone or in a batch, and is in lists', async () => {
    const body = {
      collection_id,
      file_name: 'a.mp3',
      episode: { season: 1, published_at: '2027-01-31T18:00:00+01:00' },
    }
    const { track } = await ok('POST', '/v1/track', { key, body })
    const episode = { ...EMPTY, season: 1, published_at: '2027-01-31T17:00:00.000Z' }
    expect(track.episode).toEqual(episode)
    const { tracks } = await ok('GET', '/v1/track', { key })
    expect(new Set(tracks.map((listed) => listed.episode))).toEqual(new Set([episode, null]))
    expect((await setEpisode(tenant, track_id, { type: 'trailer' })).track.episode).toEqual({
      ...EMPTY,
      type: 'trailer',
    })
    const { results } = await batchTracks(key, [{ action: 'update', track_id, episode: { number: 3 } }])
    expect(results[0]).toMatchObject({ ok: true })
    expect((await ok('GET', `/v1/track/${track_id}`, { key })).track.episode).toEqual({ ...EMPTY, number: 3 })
    expect((await setEpisode(tenant, track_id, null)).track.episode).toBeNull()
    const { events } = await ok('GET', '/v1/event?type=track.updated', { key })
    expect(events.at(-1)!.data).toMatchObject({ changed: ['episode'] })
  })

  it.each([
    [{ season: 0 }, 'season'],
    [{ description: 'x'.repeat(10_001) }, 'description'],
    [{ published_at: 'tomorrow' }, 'published_at'],
    [{ duration: 3 }, 'duration'],
  ])('refuses %o', async (episode, field) => {
    const answer = await call('PUT', `/v1/track/${track_id}`, { key, body: { episode } })
    expect([answer.status, errorPaths(answer.body as never)]).toEqual([400, [`episode.${field}`]])
  })

  it('survives the trash', async () => {
    await setEpisode(tenant, track_id, { number: 3, description: 'Notes' })
    await ok('DELETE', `/v1/track/${track_id}?trash=true`, { key })
    await ok('POST', `/v1/trash/${track_id}/restore`, { key })
    const { track } = await ok('GET', `/v1/track/${track_id}`, { key })
    expect(track.episode).toEqual({ ...EMPTY, number: 3, description: 'Notes' })
  })
})

describe('the check of a feed', () => {
  it('says what directories refuse, and nothing of a complete feed', async () => {
    const { id } = await aFeed(tenant, { block: true }, { expires_at: new Date(Date.now() + HOUR).toISOString() })
    const opus = await anEpisode(tenant, 'Opus', {}, ['opus-96.webm'])
    const check = async () => {
      const { problems, ...rest } = await ok('GET', `/v1/share/${id}/feed`, { key })
      return {
        codes: problems.map(({ code }) => code),
        track_ids: problems.flatMap((problem) => problem.track_ids),
        ...rest,
      }
    }
    expect(await check()).toMatchObject({
      codes: ['is_private', 'ends', 'no_author', 'no_email', 'no_language', 'no_category', 'no_text', 'no_file'],
      track_ids: [opus],
      episodes: 2,
      feed_url: `https://tonearm.test${FEED_PATH}`,
    })
    await ok('DELETE', `/v1/track/${opus}`, { key })
    await setEpisode(tenant, track_id, { number: 1 })
    await ok('PUT', `/v1/share/${id}`, { key, body: { feed: FEED, text: 'Stories', expires_at: null } })
    expect((await check()).codes).toEqual([])
    await setEpisode(tenant, track_id, null)
    expect(await check()).toMatchObject({ codes: ['no_number'], track_ids: [track_id] })
    await ok('PUT', `/v1/share/${id}`, { key, body: { text: 'é'.repeat(2001) } })
    await query(`update collections set cover_path = 'media/x', cover_size = 800 where id = ?`, collection_id)
    await ok('DELETE', `/v1/track/${track_id}`, { key })
    expect((await check()).codes).toEqual(['long_text', 'small_cover', 'no_episodes'])
    await ok('PUT', `/v1/share/${id}`, { key, body: { feed: null } })
    await expectError(404, 'not_found', 'GET', `/v1/share/${id}/feed`, { key })
  })
})

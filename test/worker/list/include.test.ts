import { expect, it } from 'vitest'

import { aPlaylist, aWaitingTrack, CREATOR, ok, query, expectError, errorPaths } from '../support/api.ts'
import { aReadyTrack, aTenant } from '../support/fixtures.ts'
import { aProcessedTrack } from '../support/processed_track.ts'
import { completeResult, serveTranscoder } from '../support/transcoder.ts'

it('`include` adds levels, loudness and the effective cover, only to the lists that request them', async () => {
  const tenant = await aTenant()
  const { key, collection_id } = tenant
  const loudness = {
    integrated_lufs: -14,
    loudness_range: 5,
    true_peak_dbtp: -1,
    sample_peak_dbfs: -1.2,
    replaygain_track_gain: -4,
    replaygain_track_peak: 0.9,
    r128_track_gain: -2304,
    is_silent: false,
  }
  serveTranscoder((job) => completeResult(job, { info: { loudness } }))
  const track_id = await aProcessedTrack(key, collection_id)
  await aWaitingTrack(key, collection_id)
  await query(`update tracks set cover_path = 'media/own' where id = ?`, track_id)
  await query(`update collections set cover_path = 'media/album' where id = ?`, collection_id)
  const playlist_id = await aPlaylist(key, [track_id])
  const of = `/v1/collection/${collection_id}/track` as const
  const { tracks } = await ok('GET', `${of}?include=levels,loudness,artwork`, { key })
  expect(tracks[0]).toMatchObject({ id: track_id, loudness, levels: { levels: Array(320).fill(0.5) } })
  expect(tracks[1]).toMatchObject({ loudness: null, levels: { levels: [] } })
  const covers = tracks.map((track) => new URL(track.artwork!.small.url).pathname)
  expect(covers).toEqual(
    ['/media/own/small.jpg', '/media/album/small.jpg'].map((path) => expect.stringContaining(path)),
  )
  await ok('PUT', `/v1/collection/${collection_id}`, { key, body: { is_cover_overridable: false } })
  for (const path of ['/v1/track?sort=created_at&', `${of}?`, `/v1/playlist/${playlist_id}/track?`]) {
    const [bare] = (await ok('GET', path.slice(0, -1), { key })).tracks
    expect(Object.keys(bare).filter((name) => ['levels', 'loudness', 'artwork'].includes(name))).toEqual([])
    const [first] = (await ok('GET', `${path}include=artwork`, { key })).tracks
    expect([first.id, first.artwork.icon.url]).toEqual([track_id, expect.stringContaining('/media/album/icon.jpg')])
    const body = await expectError(400, 'invalid_request', 'GET', `${path}include=levels,files`, { key })
    expect(errorPaths(body)).toEqual(['include'])
  }
  const { collections } = await ok('GET', '/v1/collection?include=artwork', { key })
  expect(collections[0]!.artwork!.regular.url).toContain('/media/album/regular.jpg')
  expect((await ok('GET', '/v1/playlist?include=artwork', { key })).playlists[0]!.artwork!.icon.url).toMatch(
    /\/cover\/M-\d+-7{32}\/icon\.png$/,
  )
  // A collection without a cover shows that of its first track. The other tracks of the collection show it as well.
  await ok('PUT', `/v1/collection/${collection_id}`, { key, body: { is_cover_overridable: true } })
  await query('update collections set cover_path = null')
  const found = await ok('GET', '/v1/collection?include=artwork', { key })
  const others = await ok('GET', `${of}?include=artwork`, { key })
  for (const { artwork } of [found.collections[0]!, ...others.tracks]) {
    expect(artwork!.icon.url).toContain('/media/own/icon.jpg')
  }
  // The cover of a playlist takes precedence over those of its tracks, as in the player.
  await query(`update playlists set cover_path = 'media/list'`)
  const waiting = others.tracks[1]!.id
  await ok('PUT', `/v1/playlist/${playlist_id}/track`, { key, body: { track_ids: [waiting] } })
  const { tracks: listed } = await ok('GET', `/v1/playlist/${playlist_id}/track?include=artwork`, { key })
  expect(listed[0]!.artwork!.icon.url).toContain('/media/list/icon.jpg')
})

it('`include=state` adds the progress, the error and the number of warnings', async () => {
  const { key, collection_id } = await aTenant()
  const ids = [await aWaitingTrack(key, collection_id), await aWaitingTrack(key, collection_id)]
  const faults = {
    warnings: [{ code: 'clipping', message: 'Loud' }],
    failed_variants: [{ index: 'opus-96', message: 'No' }],
  }
  await query(`update tracks set info = ? where id = ?`, JSON.stringify(faults), ids[0])
  const error = { code: 'undecodable', message: 'This is not audio.', attempt: 2 }
  await query(`update tracks set progress = 0.25, info = ? where id = ?`, JSON.stringify({ error }), ids[1])
  const of = `/v1/collection/${collection_id}/track` as const
  const { tracks } = await ok('GET', `${of}?include=state`, { key })
  expect(tracks.map(({ id, state }) => ({ id, ...state }))).toEqual([
    { id: ids[0], progress: 0, error: null, warnings: 2 },
    { id: ids[1], progress: 0.25, error, warnings: 0 },
  ])
  expect((await ok('GET', `${of}?include=loudness`, { key })).tracks[0]).not.toHaveProperty('state')
})

it('`include=variants` adds the files, and `include=ids` your identifiers', async () => {
  const { key, collection_id } = await aTenant()
  const ids = { creator_id: CREATOR, organization_index: 'Night 1' }
  const track_id = await aReadyTrack(key, collection_id, ids, ['aac-160.m4a', 'analysis.json'])
  const waiting = await aWaitingTrack(key, collection_id)
  await query(`update tracks set info = '{"container":"wav"}', folder_id = 'other' where id = ?`, track_id)
  const playlist_id = await aPlaylist(key, [track_id, waiting])
  const { variants } = await ok('GET', `/v1/track/${track_id}/variant`, { key })
  expect(variants.map(({ content_type }) => content_type)).toEqual(['audio/mp4', 'application/json', 'audio/wav'])
  const names = ['creator_id', 'organization_index', 'variants']
  for (const path of [
    '/v1/track?sort=created_at&',
    `/v1/collection/${collection_id}/track?`,
    `/v1/playlist/${playlist_id}/track?`,
  ]) {
    const read = async (include: string) => (await ok('GET', path + include, { key })).tracks
    for (const track of [...(await read('')), ...(await read('include=state'))])
      expect(names.filter((name) => name in track)).toEqual([])
    expect(await read('include=ids,variants')).toMatchObject([
      { id: track_id, ...ids, variants },
      { id: waiting, creator_id: null, organization_index: null, variants: [] },
    ])
    const [first] = await read('include=ids')
    expect(names.filter((name) => name in first)).toEqual(['creator_id', 'organization_index'])
  }
})

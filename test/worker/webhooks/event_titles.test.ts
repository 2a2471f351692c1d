import { expect, it } from 'vitest'

import { withoutExtension } from '../../../src/contract/facts.ts'
import { aPlaylist, anApiKey, aTrack, ok, query } from '../support/api.ts'
import { aTenant } from '../support/fixtures.ts'
import { aShare } from '../support/share_visitor.ts'
import { eventsOf } from '../support/tenant_events.ts'

it('`include=titles` adds the current title of its subject to each event, or null if the subject is gone', async () => {
  const { key, collection_id } = await aTenant()
  const since = (await eventsOf(key)).at(-1)!.seq
  const titles = async (include = '&include=titles') =>
    (await eventsOf(key, since, include)).map(({ subject, title }) => [subject.split(':')[0], title])
  const track = (await aTrack(key, collection_id, { file_name: 'song.mp3' })).id
  const trashed = (await aTrack(key, collection_id, { player_title: 'Trashed' })).id
  const deleted = (await aTrack(key, collection_id, { player_title: 'Deleted' })).id
  const playlist = await aPlaylist(key, [], { title: 'List' })
  const share = await aShare(key, collection_id, { scope: 'track', id: track })
  const apiKey = await anApiKey(key, { type: 'player', title: 'Site' })
  expect(await titles('')).toEqual(
    ['track', 'track', 'track', 'playlist', 'share', 'api_key'].map((kind) => [kind, undefined]),
  )
  await ok('PUT', `/v1/playlist/${playlist}`, { key, body: { title: 'Renamed' } })
  await ok('DELETE', `/v1/track/${trashed}?trash=true`, { key })
  await ok('DELETE', `/v1/track/${deleted}`, { key })
  const expected = (name: string) => [
    ['track', name],
    ['track', 'Trashed'],
    ['track', null],
    ['playlist', 'Renamed'],
    ['share', name],
    ['api_key', 'Site'],
    ['playlist', 'Renamed'],
    ['track', 'Trashed'],
    ['track', null],
  ]
  expect(await titles()).toEqual(expected('song'))
  for (const name of ['Op. 9 No. 2.wav', 'song', '.wav', 'wav.wav', 'a..b']) {
    await query('update tracks set file_name = ? where id = ?', name, track)
    expect((await titles())[0]).toEqual(['track', withoutExtension(name)])
  }
  await query(`update tracks set tags = '{"title": "Tagged"}' where id = ?`, track)
  expect(await titles()).toEqual(expected('Tagged'))
  await ok('PUT', `/v1/share/${share.id}`, { key, body: { title: 'For the press' } })
  await ok('DELETE', `/v1/api_key/${apiKey.api_key.id}`, { key })
  const after = await titles()
  expect([after[4], after[5]]).toEqual([
    ['share', 'For the press'],
    ['api_key', null],
  ])
})

it('`include=collection,artwork` adds the collection of a track, and the covers of tracks, collections and playlists', async () => {
  const { key, collection_id } = await aTenant()
  const since = (await eventsOf(key)).at(-1)!.seq
  const track = (await aTrack(key, collection_id)).id
  await aPlaylist(key, [])
  await anApiKey(key, { type: 'player', title: 'Site' })
  await query(`update collections set title = 'Album', cover_path = 'cover/1' where id = ?`, collection_id)
  const parts = async (include: string) =>
    (await eventsOf(key, since, include)).map(({ type, title, collection, artwork }) => ({
      type,
      title,
      collection,
      cover: artwork && new URL(artwork.icon.url).pathname.replace(/^.*cover/, 'cover'),
    }))
  const album = { id: collection_id, title: 'Album' }
  const title = undefined
  expect(await parts('&include=collection,artwork')).toEqual([
    { type: 'track.created', title, collection: album, cover: 'cover/1/icon.jpg' },
    { type: 'playlist.created', title, collection: null, cover: expect.stringMatching(/^cover\/M-\d+-\/icon\.png$/) },
    { type: 'api_key.created', title, collection: null, cover: undefined },
    { type: 'cover.ready', title, collection: null, cover: 'cover/1/icon.jpg' },
  ])
  await ok('DELETE', `/v1/track/${track}`, { key })
  expect((await parts('&include=collection,titles')).at(-1)).toEqual({
    type: 'track.deleted',
    title: null,
    collection: album,
    cover: undefined,
  })
})

it('titles of events about an organization and a webhook endpoint are its name and its title', async () => {
  const { key, organization_id } = await aTenant()
  const since = (await eventsOf(key)).at(-1)!.seq
  const body = { url: 'http://127.0.0.1:9/', events: ['webhook.test'], title: 'Ours' }
  await ok('POST', '/v1/webhook_endpoint', { key, body })
  await query(
    `insert into events (organization_id, seq, type, subject, data) select ?1, ?2, 'quota.warning', 'organization:' || ?1,
      json_object('scope', 'organization', 'resource_id', ?1, 'max_bytes', 1, 'used_bytes', 1, 'max_tracks', null, 'used_tracks', null)`,
    organization_id,
    Date.now() + 1000,
  )
  const events = await eventsOf(key, since, '&include=titles')
  expect(events.map(({ title }) => title)).toEqual(['Ours', 'Test'])
})

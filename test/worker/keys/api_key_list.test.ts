import { expect, it } from 'vitest'

import { anApiKey, aPlaylist, errorPaths, expectError, ok } from '../support/api.ts'
import { aReadyTrack, aTenant } from '../support/fixtures.ts'
import { countCallRows } from '../support/row_counter.ts'

/** The optional part of the list of keys. */

const listed = async (key: string, include: string) =>
  (await ok('GET', `/v1/api_key?include=${include}`, { key })).api_keys

it('`include=resource` adds the title of the resource to which each key is bound', async () => {
  const { key, collection_id } = await aTenant()
  await ok('PUT', `/v1/collection/${collection_id}`, { key, body: { title: 'Album' } })
  const track_id = await aReadyTrack(key, collection_id, { player_title: 'Song' })
  const playlist_id = await aPlaylist(key, [track_id], { title: 'List' })
  for (const [title, bound] of Object.entries({
    a: { collection_id },
    b: { track_id },
    c: { playlist_id },
    d: { collection_id },
    e: {},
  }))
    await anApiKey(key, { type: 'player', title, ...bound })
  const found = async () =>
    (await listed(key, 'resource')).map(({ title, resource }) => [title, resource?.title ?? null])
  expect((await found()).slice(0, 5).toReversed()).toEqual([
    ['a', 'Album'],
    ['b', 'Song'],
    ['c', 'List'],
    ['d', 'Album'],
    ['e', null],
  ])
  expect((await listed(key, 'resource'))[0]!.resource).toBeNull()
  // A title in the trash is still known.
  await ok('DELETE', `/v1/playlist/${playlist_id}?trash=true`, { key })
  expect((await found())[2]).toEqual(['c', 'List'])
  expect((await ok('GET', '/v1/api_key', { key })).api_keys[0]).not.toHaveProperty('resource')
  expect(errorPaths(await expectError(400, 'invalid_request', 'GET', '/v1/api_key?include=title', { key }))).toEqual([
    'include',
  ])
})

it('the titles of many bound keys take as many queries as those of one', async () => {
  const { key, collection_id } = await aTenant()
  const count = async () => (await countCallRows('GET', '/v1/api_key?include=resource', { key })).statements
  await anApiKey(key, { type: 'player', collection_id })
  const one = await count()
  for (let n = 0; n < 5; n++) await anApiKey(key, { type: 'player', collection_id })
  expect(await count()).toBe(one)
})

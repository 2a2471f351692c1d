import { expect, it } from 'vitest'

import { aTrack, anOrganization, ok, expectError } from '../support/api.ts'
import { aReadyTrack, aTenant } from '../support/fixtures.ts'

/** `GET /v1/track/{track_id}/variant`: the files of a track. */

it('a track lists its files with their sizes', async () => {
  const { key, collection_id } = await aTenant()
  const track_id = await aReadyTrack(key, collection_id, {}, ['aac-160.m4a', 'waveform.json'])
  const { variants } = await ok('GET', `/v1/track/${track_id}/variant`, { key })
  const types = { 'aac-160': 'audio/mp4', waveform: 'application/json', original: null }
  expect(variants).toEqual(
    Object.entries(types).map(([index, content_type]) => ({
      index,
      content_type,
      size: 5,
      bitrate: 128,
      duration: 12.346,
    })),
  )
})

it('the list of files is empty for a track without files, and returns 404 for another organization', async () => {
  const { key, collection_id } = await aTenant()
  const { id } = await aTrack(key, collection_id)
  expect((await ok('GET', `/v1/track/${id}/variant`, { key })).variants).toEqual([])
  const other = await anOrganization()
  await expectError(404, 'not_found', 'GET', `/v1/track/${id}/variant`, { key: other.key })
})

import { expect, it } from 'vitest'

import { operations } from '../../../src/contract/index.ts'
import { nearestName, nearestPath } from '../../../src/http/api/nearest.ts'
import { anOrganization, call, UNKNOWN_ID } from '../support/api.ts'

/** Errors for names and paths that do not exist suggest what the caller probably meant. */

const paths = Object.values(operations).map(({ path }) => path)

it.each([
  ['/v1/tracks', '/v1/track'],
  ['/v1/track/', '/v1/track'],
  [`/v1/tracks/${UNKNOWN_ID}`, '/v1/track/{track_id}'],
  ['/v2/track', '/v1/track'],
  ['/v1/play-session/track', '/v1/play_session/{scope}'],
  ['/v1/foo', null],
  ['/', null],
  [`/${'v1/'.repeat(1000)}`, null],
  [`/v1/${'t'.repeat(300)}`, null],
])('%s: suggests %s', (path, suggestion) => {
  expect(nearestPath(path, paths)).toBe(suggestion)
})

it.each([
  ['titles', 'title'],
  ['fileName', 'file_name'],
  ['collection', 'collection_id'],
  ['artist', null],
  ['id', null],
  ['', null],
  ['t'.repeat(10_000), null],
])('%s: suggests the field %s', (name, suggestion) => {
  expect(nearestName(name, ['collection_id', 'file_name', 'title', 'player_title'])).toBe(suggestion)
})

it('a response names the suggestion', async () => {
  const { key } = await anOrganization()
  expect((await call('GET', '/v1/tracks', { key })).body).toMatchObject({
    code: 'not_found',
    message: 'There is nothing at this path. Did you mean /v1/track?',
  })
  const wrongBody = await call('POST', '/v1/collection', { key, body: { title: 'A', meta_data: {} } })
  expect(wrongBody.body).toMatchObject({
    code: 'unknown_field',
    errors: [{ path: 'meta_data', message: 'is not a known field; did you mean metadata?' }],
  })
  const wrongQuery = await call('GET', '/v1/track?limits=3', { key })
  expect(wrongQuery.body).toMatchObject({
    code: 'unknown_field',
    message: 'limits: is not a known field; did you mean limit?',
  })
})

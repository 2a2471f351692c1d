import { beforeEach, describe, expect, it } from 'vitest'

import { call, errorPaths, expectError, ok, query, UNKNOWN_ID } from '../support/api.ts'
import { aTenantWithTrack } from '../support/fixtures.ts'
import { countedLists } from '../support/seed.ts'
import { aShare, openPage } from '../support/share_visitor.ts'

/** Shares that are created in batches. */

let key: string
let collection_id: string
let track_id: string

beforeEach(async () => {
  ;({ key, collection_id, track_id } = await aTenantWithTrack())
})

const create = (shares: object[]) => ok('POST', '/v1/share/batch', { key, body: { shares } })
const counts = () => query(`select * from list_counts where list like 'shares:%' order by list, level, bucket`)

describe('a batch of shares', () => {
  it('creates 200 private feeds, each of which can be revoked alone', async () => {
    const one = { scope: 'collection', id: collection_id, is_downloadable: true, feed: { block: true } }
    const { done, refused, results } = await create(Array.from({ length: 200 }, () => one))
    expect([done, refused, results.length]).toEqual([200, 0, 200])
    expect(new Set(results.map(({ share }) => share!.slug)).size).toBe(200)
    const { count, shares } = await ok('GET', '/v1/share?limit=200', { key })
    expect(count).toBe(200)
    expect(shares.map(({ id }) => id).toReversed()).toEqual(results.map(({ share_id }) => share_id))
    const expected = await Promise.all(countedLists('shares').map((sql) => query(`${sql} having list like 'shares:%'`)))
    expect(await counts()).toEqual(expect.arrayContaining(expected.flat()))
    const { events } = await ok('GET', '/v1/event?type=share.created&limit=200', { key })
    const announced = new Set(events.map(({ data }) => (data as { share_id: string }).share_id))
    expect([events.length, announced]).toEqual([200, new Set(results.map(({ share_id }) => share_id))])
    const [first, second] = results
    await ok('DELETE', `/v1/share/${first!.share_id}`, { key })
    const status = async (url: string) => (await openPage(new URL(url).pathname)).status
    expect([await status(first!.share!.feed_url!), await status(second!.share!.feed_url!)]).toEqual([410, 200])
  })

  it('has a result for each share that was not created', async () => {
    const { id } = await aShare(key, collection_id, { slug: 'taken' })
    await ok('DELETE', `/v1/share/${id}`, { key })
    const foreign = await aTenantWithTrack()
    const share = { scope: 'track', id: track_id }
    const { done, refused, results } = await create([
      { ...share, slug: 'mine', title: 'One' },
      { ...share, slug: 'mine' },
      { ...share, slug: 'taken' },
      { scope: 'track', id: UNKNOWN_ID },
      { scope: 'track', id: foreign.track_id },
      share,
    ])
    expect([done, refused]).toEqual([2, 4])
    expect(results.map(({ code }) => code)).toEqual([
      undefined,
      'slug_taken',
      'slug_taken',
      'not_found',
      'not_found',
      undefined,
    ])
    expect(results[0]!.share).toEqual((await ok('GET', `/v1/share/${results[0]!.share_id}`, { key })).share)
  })

  it('creates none if one is not valid, and names the field', async () => {
    const share = { scope: 'collection', id: collection_id }
    const faults = [
      [{ feed: {} }, 'feed'],
      [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
      [{ variants: ['nothing'] }, 'variants.0'],
      [{ password: 'so what?' }, 'password'],
    ] as const
    for (const [fault, field] of faults) {
      const body = {
        shares: [
          { ...share, variants: ['mp3-128'] },
          { ...share, ...fault },
        ],
      }
      const answer = await call('POST', '/v1/share/batch', { key, body })
      expect([answer.status, errorPaths(answer.body as never)]).toEqual([400, [`shares.1.${field}`]])
    }
    for (const length of [0, 201])
      await expectError(400, 'invalid_request', 'POST', '/v1/share/batch', {
        key,
        body: { shares: Array.from({ length }, () => share) },
      })
    expect((await ok('GET', '/v1/share', { key })).count).toBe(0)
  })
})

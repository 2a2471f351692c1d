import { beforeEach, describe, expect, it } from 'vitest'

import { anOrganization, ok, expectError } from '../support/api.ts'

let key: string
beforeEach(async () => {
  key = (await anOrganization()).key
})

describe('a default variant', () => {
  it('is listed in the order in which players try it', async () => {
    const { count, variants } = await ok('GET', '/v1/variant', { key })
    expect(count).toBe(8)
    expect(variants.map(({ index }) => index)).toEqual([
      'aac-160',
      'mp3-128',
      'opus-96',
      'lossless',
      'preview',
      'waveform',
      'analysis',
      'original',
    ])
    expect(variants[0]).toEqual({
      id: '00000000-0000-4000-8000-000000000160',
      name: 'AAC 160',
      type: 'transcode',
      format: 'm4a',
      content_type: 'audio/mp4',
      bitrate: 160,
      index: 'aac-160',
      codec: 'aac',
      channels: null,
      start: null,
      length: null,
    })
  })

  it('is listed in pages, with the total count', async () => {
    const first = await ok('GET', '/v1/variant?limit=2&offset=1', { key })
    expect(first).toMatchObject({ count: 8, variants: [{ index: 'mp3-128' }, { index: 'opus-96' }] })
    expect(first.variants).toHaveLength(2)
    expect(await ok('GET', '/v1/variant?offset=8', { key })).toMatchObject({ count: 8, variants: [] })
  })

  it('is found by the id that the list contains, in upper or lower case', async () => {
    const { variants } = await ok('GET', '/v1/variant', { key })
    for (const variant of variants) {
      expect(await ok('GET', `/v1/variant/${variant.id.toUpperCase()}`, { key })).toMatchObject({
        variant_id: variant.id,
        variant,
      })
    }
  })
})

describe('an unknown variant', () => {
  it('returns 404, even if the id in the path is the index of a variant', async () => {
    await expectError(404, 'not_found', 'GET', '/v1/variant/aac-160', { key })
  })
})

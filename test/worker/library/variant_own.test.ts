import { beforeEach, describe, expect, it } from 'vitest'

import { MAX_VARIANTS } from '../../../src/contract/facts.ts'
import {
  anApiKey,
  anOrganization,
  aVariant,
  call,
  ok,
  expectError,
  sortedStatuses,
  errorPaths,
} from '../support/api.ts'

/** Variants that an organization defines in addition to the catalog. variant_files.test.ts covers their effects on tracks. */

let key: string
beforeEach(async () => {
  key = (await anOrganization()).key
})
const indexes = async (query = '') => {
  const { count, variants } = await ok('GET', `/v1/variant${query}`, { key })
  return [count, variants.map(({ index }) => index)] as [number, string[]]
}

describe('a custom variant', () => {
  it('has the same fields as a variant of the catalog', async () => {
    const variant = await aVariant(key, { name: 'MP3 320', codec: 'mp3', bitrate: 320, index: 'mp3-320' })
    expect(variant).toEqual({
      id: expect.stringMatching(/^000[0-9a-f]{5}-/),
      name: 'MP3 320',
      type: 'transcode',
      format: 'mp3',
      content_type: 'audio/mpeg',
      bitrate: 320,
      index: 'mp3-320',
      codec: 'mp3',
      channels: null,
      start: null,
      length: null,
    })
    expect(await ok('GET', `/v1/variant/${variant.id}`, { key })).toMatchObject({ variant_id: variant.id, variant })
  })

  it.each([
    ['aac', { codec: 'aac', bitrate: 32, channels: 1 }, { format: 'm4a', bitrate: 32, channels: 1 }],
    ['opus', { codec: 'opus', bitrate: 16 }, { format: 'opus', bitrate: 16 }],
    ['flac, which has no bitrate', { codec: 'flac' }, { format: 'flac', bitrate: 0 }],
    ['a preview', { codec: 'mp3', bitrate: 96, type: 'preview' }, { type: 'preview', start: 0, length: 30 }],
    [
      'a preview of a part',
      { codec: 'opus', bitrate: 64, type: 'preview', start: 12.5, length: 600 },
      { type: 'preview', start: 12.5, length: 600 },
    ],
  ])('can be %s', async (_, body, expected) => {
    expect(await aVariant(key, { name: 'Mine', ...body })).toMatchObject(expected)
  })

  it.each([
    ['Voice, mono 48k', 'voice-mono-48k'],
    ['  Ænima — Größe!', 'nima-gro-e'],
    ['x'.repeat(100), 'x'.repeat(40)],
    [`${'x'.repeat(39)} y`, 'x'.repeat(39)],
  ])('gets its index from the name %s', async (name, index) => {
    expect((await aVariant(key, { name, codec: 'flac' })).index).toBe(index)
  })

  it('is listed before the variants of the catalog, newest first, and a page can contain both', async () => {
    for (const index of ['one', 'two', 'three']) await aVariant(key, { name: 'Mine', index, codec: 'flac' })
    const custom = ['three', 'two', 'one']
    const [count, all] = await indexes()
    expect([count, all.slice(0, 4)]).toEqual([11, [...custom, 'aac-160']])
    const pages = [await indexes('?limit=4'), await indexes('?limit=4&offset=4'), await indexes('?limit=4&offset=8')]
    expect(pages.map(([total]) => total)).toEqual([11, 11, 11])
    expect(pages.flatMap(([, page]) => page)).toEqual(all)
    expect(await indexes('?offset=11')).toEqual([11, []])
  })

  it('belongs to its organization, and another organization may use the same index', async () => {
    const { id } = await aVariant(key, { name: 'Mine', codec: 'flac' })
    const other = await anOrganization()
    expect((await ok('GET', '/v1/variant', { key: other.key })).count).toBe(8)
    await expectError(404, 'not_found', 'GET', `/v1/variant/${id}`, { key: other.key })
    await aVariant(other.key, { name: 'Mine', codec: 'flac' })
  })

  it('can be read with player keys', async () => {
    const { id } = await aVariant(key, { name: 'Mine', codec: 'flac' })
    const { secret } = await anApiKey(key)
    expect((await ok('GET', '/v1/variant', { key: secret })).variants[0]!.id).toBe(id)
    await ok('GET', `/v1/variant/${id}`, { key: secret })
    await expectError(403, 'insufficient_scope', 'DELETE', `/v1/variant/${id}`, { key: secret })
  })

  it('keeps fields that an update omits', async () => {
    const { id } = await aVariant(key, {
      name: 'Voice',
      codec: 'opus',
      bitrate: 48,
      channels: 1,
      type: 'preview',
      start: 5,
    })
    const update = async (body: object) => (await ok('PUT', `/v1/variant/${id}`, { key, body })).variant
    const before = await update({})
    expect(before).toMatchObject({ name: 'Voice', index: 'voice', codec: 'opus', bitrate: 48, channels: 1, start: 5 })
    expect(await update({ name: 'Speech' })).toEqual({ ...before, name: 'Speech' })
    expect(await update({ channels: null, length: 60 })).toEqual({
      ...before,
      name: 'Speech',
      channels: null,
      length: 60,
    })
  })

  it('can change its codec, and must also change its bitrate if the new codec does not support the old bitrate', async () => {
    const { id } = await aVariant(key, { name: 'Mine', codec: 'opus', bitrate: 64 })
    const update = (body: object) => call('PUT', `/v1/variant/${id}`, { key, body })
    expect((await update({ codec: 'mp3' })).body.variant).toMatchObject({ format: 'mp3', bitrate: 64 })
    expect((await update({ codec: 'flac' })).body.variant).toMatchObject({ format: 'flac', bitrate: 0 })
    expect((await update({ codec: 'aac' })).body.errors).toEqual([{ path: 'bitrate', message: 'is required for aac' }])
    expect((await update({ codec: 'aac', bitrate: 96 })).body.variant).toMatchObject({ format: 'm4a', bitrate: 96 })
  })

  it('releases its index when it is deleted', async () => {
    const { id } = await aVariant(key, { name: 'Mine', codec: 'flac' })
    const { variant_id, deleted_variant } = await ok('DELETE', `/v1/variant/${id}`, { key })
    expect([variant_id, deleted_variant.index]).toEqual([id, 'mine'])
    expect((await indexes())[0]).toBe(8)
    await expectError(404, 'not_found', 'DELETE', `/v1/variant/${id}`, { key })
    await aVariant(key, { name: 'Mine', codec: 'flac' })
  })
})

describe('an invalid custom variant', () => {
  const mp3 = { name: 'Mine', codec: 'mp3', bitrate: 128 }

  it.each([
    ['bitrate', { bitrate: undefined }],
    ['bitrate', { bitrate: 24 }],
    ['bitrate', { bitrate: 100 }],
    ['bitrate', { bitrate: 321 }],
    ['bitrate', { codec: 'aac', bitrate: 31 }],
    ['bitrate', { codec: 'opus', bitrate: 15 }],
    ['bitrate', { codec: 'opus', bitrate: 257, channels: 1 }],
    ['bitrate', { codec: 'flac', bitrate: 128 }],
    ['codec', { codec: 'wav' }],
    ['codec', { codec: undefined }],
    ['channels', { channels: 3 }],
    ['channels', { channels: 0 }],
    ['type', { type: 'waveform' }],
    ['start', { start: 5 }],
    ['length', { length: 30 }],
    ['start', { type: 'preview', start: -1 }],
    ['length', { type: 'preview', length: 0 }],
    ['length', { type: 'preview', length: 601 }],
    ['index', { index: 'Mine' }],
    ['index', { index: '-mine' }],
    ['index', { index: 'a--b' }],
    ['index', { index: '../up' }],
    ['index', { index: 'x'.repeat(41) }],
    ['index', { name: '青い' }],
    ['name', { name: '' }],
  ])('returns 400 and names %s for %j', async (field, wrong) => {
    const body = { ...mp3, ...wrong }
    expect(errorPaths(await expectError(400, 'invalid_request', 'POST', '/v1/variant', { key, body }))).toEqual([field])
  })

  it('is refused when it changes the index or type, because sessions and keys refer to them', async () => {
    const { id } = await aVariant(key, mp3)
    for (const body of [{ index: 'other' }, { type: 'preview' }]) {
      await expectError(400, 'unknown_field', 'PUT', `/v1/variant/${id}`, { key, body })
    }
    await expectError(400, 'invalid_request', 'PUT', `/v1/variant/${id}`, { key, body: { start: 5 } })
  })

  it.each(['aac-160', 'original', 'early', 'mine'])('returns 409 when the index %s is taken', async (index) => {
    await aVariant(key, mp3)
    await expectError(409, 'variant_exists', 'POST', '/v1/variant', { key, body: { ...mp3, name: 'Other', index } })
    await expectError(409, 'variant_exists', 'POST', '/v1/variant', { key, body: { ...mp3, name: index } })
  })

  it('is refused when a simultaneous request has taken its index', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => call('POST', '/v1/variant', { key, body: mp3 })))
    expect(sortedStatuses(answers)).toEqual([200, 409, 409])
  })

  it('is refused when the organization already has 20 custom variants, even with simultaneous requests', async () => {
    const bodies = Array.from({ length: MAX_VARIANTS + 4 }, (_, at) => ({ ...mp3, name: `Mine ${at}` }))
    const answers = await Promise.all(bodies.map((body) => call('POST', '/v1/variant', { key, body })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
    await expectError(409, 'variants_full', 'POST', '/v1/variant', { key, body: { ...mp3, name: 'One more' } })
    const { limits } = await ok('GET', '/v1/limits', { key })
    expect(limits).toContainEqual(expect.objectContaining({ name: 'variants', value: 20 }))
    const { variants } = await ok('GET', '/v1/variant', { key })
    await ok('DELETE', `/v1/variant/${variants[0]!.id}`, { key })
    await aVariant(key, { ...mp3, name: 'One more' })
  })

  it('returns 409 when it changes a default variant', async () => {
    const { variants } = await ok('GET', '/v1/variant', { key })
    for (const { id } of variants) {
      await expectError(409, 'default_variant', 'PUT', `/v1/variant/${id}`, { key, body: { name: 'Mine' } })
      await expectError(409, 'default_variant', 'DELETE', `/v1/variant/${id}`, { key })
    }
    expect((await ok('GET', '/v1/variant', { key })).variants).toEqual(variants)
  })
})

import { exports } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'

import { aCollection, anOrganization, ok, expectError, errorPaths } from '../support/api.ts'

/** The rules for JSON bodies, tested with one operation that creates a resource and one that updates it. */

let key: string
beforeEach(async () => {
  key = (await anOrganization()).key
})
const post = (body: unknown, headers = {}) => ['POST', '/v1/collection', { key, body, headers }] as const

describe('a JSON body', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json ; charset=utf-8',
    'Application/JSON',
    'application/vnd.api2+json',
  ])('is accepted with the content type %s', async (type) => {
    expect((await ok(...post({ title: 'So What' }, { 'content-type': type }))).collection.title).toBe('So What')
  })

  it('is treated as an empty object when it is absent', async () => {
    const { id } = await aCollection(key)
    expect((await ok('PUT', `/v1/collection/${id}`, { key })).collection_id).toBe(id)
    expect(errorPaths(await expectError(400, 'invalid_request', 'POST', '/v1/collection', { key }))).toEqual(['title'])
  })

  it('keeps every visible character of a title', async () => {
    const title = 'Ænima “🎷” \u200fשלום\u200f é e\u0301 <script>&\'";--'
    expect((await ok(...post({ title }))).collection.title).toBe(title)
  })

  it('has its title stored on one line, without control characters and without white space at either end', async () => {
    const sent = `\u00a0 Line\r\nsep\u2028\tA \0\u202egnp.exe\u202c\u009f${' '.repeat(255)}\n`
    const { collection } = await ok(...post({ title: sent, player_subtitle: sent }))
    expect([collection.title, collection.player_subtitle]).toEqual(['Line sep A gnp.exe', 'Line sep A gnp.exe'])
    expect(errorPaths(await expectError(400, 'invalid_request', ...post({ title: ' \u0000\n' })))).toEqual(['title'])
    const body = { collection_id: collection.id, title: sent, file_name: `..\\a/ b\n\u202ec.wav ` }
    const { track } = await ok('POST', '/v1/track', { key, body: { ...body, title: undefined, player_title: sent } })
    expect(track).toMatchObject({
      player_title: 'Line sep A gnp.exe',
      file_name: 'b c.wav',
      file_name_original: body.file_name,
    })
  })

  it('keeps metadata numbers that fit into a double, and text that looks like a larger number', async () => {
    const metadata =
      '{"a":9007199254740991,"b":9007199254740994,"c":1e21,"d":0.1,"e":0e999,"g":9223372036854776000,"f":"1e400 12345678901234567 \\ud83c\\udfb5"}'
    const { collection } = await ok(...post(`{"title":"x","metadata":${metadata}}`))
    expect(collection.metadata).toEqual(JSON.parse(metadata))
  })

  it('may contain texts of 255 characters, and metadata of 16 KB with 5 levels', async () => {
    const metadata = { a: { b: { c: { d: [1, null, 'x'] } } }, fill: '' }
    metadata.fill = 'x'.repeat(16 * 1024 - JSON.stringify(metadata).length)
    const { collection } = await ok(...post({ title: 'x'.repeat(255), metadata }))
    expect(collection.metadata).toEqual(metadata)
  })

  it('keeps metadata keys that are also property names of JavaScript objects', async () => {
    const body = '{"title":"x","metadata":{"constructor":1,"toString":{"length":2},"":3}}'
    const { collection } = await ok(...post(body))
    expect(Object.entries(collection.metadata)).toEqual([
      ['constructor', 1],
      ['toString', { length: 2 }],
      ['', 3],
    ])
  })

  it('is ignored when the operation has no body', async () => {
    const { id } = await aCollection(key)
    await ok('POST', `/v1/collection/${id}/cover`, { key, body: 'nonsense' })
  })
})

describe('a request with an invalid body', () => {
  it.each([
    ['{"__proto__":{"x":1},"y":2}', 'metadata.__proto__', 'must not be used as a name'],
    ['{"y":[{"\\u005f_proto__":1}]}', 'metadata.y.0.__proto__', 'must not be used as a name'],
    ['{"y":[1,1e400]}', 'metadata.y.1', 'is a number that cannot be stored exactly: send it as a string'],
    ['{"y":-1e400}', 'metadata.y', 'is a number that cannot be stored exactly: send it as a string'],
    ['{"y":1e-400}', 'metadata.y', 'is a number that cannot be stored exactly: send it as a string'],
    ['{"y":9007199254740993}', 'metadata.y', 'is a number that cannot be stored exactly: send it as a string'],
    [
      '{"y":"\\ud800z"}',
      'metadata.y',
      'contains an unpaired surrogate (half a character): send the whole character or leave it out',
    ],
    [
      '{"\\udfb5":1}',
      'metadata.\ufffd',
      'contains an unpaired surrogate (half a character): send the whole character or leave it out',
    ],
  ])('returns 400 for metadata that could not be stored unchanged: %s', async (metadata, path, message) => {
    const { errors } = await expectError(400, 'invalid_request', ...post(`{"title":"x","metadata":${metadata}}`))
    expect(errors).toEqual([{ path, message }])
  })

  it('returns 400 for an unpaired surrogate in any text', async () => {
    const half = 'a\ud800z'
    for (const field of ['title', 'organization_index', 'player_subtitle', 'player_color', 'unknown'])
      expect(errorPaths(await expectError(400, 'invalid_request', ...post({ title: 'x', [field]: half })))).toEqual([
        field,
      ])
    const { id } = await aCollection(key)
    const file = { collection_id: id, file_name: half }
    expect(errorPaths(await expectError(400, 'invalid_request', 'POST', '/v1/track', { key, body: file }))).toEqual([
      'file_name',
    ])
  })

  it('returns invalid_json for bytes that are not UTF-8', async () => {
    const body = new Uint8Array([...new TextEncoder().encode('{"title":"'), 0xe9, 0x22, 0x7d])
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await exports.default.fetch('https://tonearm.test/v1/collection', { method: 'POST', headers, body })
    expect([answer.status, (await answer.json<{ code: string }>()).code]).toEqual([400, 'invalid_json'])
  })

  it.each(['iso-8859-1', '"utf-16"', 'utf-8x'])('returns 415 for the charset %s', async (charset) => {
    const type = `application/json; charset=${charset}`
    await expectError(415, 'unsupported_media_type', ...post({ title: 'x' }, { 'content-type': type }))
  })

  it.each([
    ['collection', { title: 5 }, 'title: must be a string, not 5'],
    ['collection', { title: 'x'.repeat(256) }, 'title: must be between 1 and 255 characters, not 256'],
    ['track', { collection_id: 'x', file_name: 'a.mp3' }, 'collection_id: must be a UUID, not "x"'],
    ['api_key', { title: 'x', type: 'x' }, 'type: must be one of server, player, uploader, signing, not "x"'],
    [
      'api_key',
      { title: 'x', type: 'server', expires_at: 'x' },
      'expires_at: must be a date and time such as 2027-01-31T00:00:00Z, not "x"',
    ],
    ['webhook_endpoint', { url: 'https://shop.com', events: [] }, 'events: must have between 1 and 50 entries, not 0'],
    [
      'webhook_endpoint',
      { url: 'https://shop.com', events: ['x'] },
      'events.0: must be a type of event, a group such as track.*, or *, not "x"',
    ],
    ['webhook_endpoint', { url: 'https://shop.com', is_ordered: 1 }, 'is_ordered: must be true or false, not 1'],
  ])('explains the fault of a %s with the body %j: %s', async (noun, body, expected_message) => {
    const { message, errors } = await expectError(400, 'invalid_request', 'POST', `/v1/${noun}`, { key, body })
    expect([message, ...errors.map((error) => `${error.path}: ${error.message}`)]).toContain(expected_message)
  })

  it.each(['{"title":', '', ' ', '{title:1}', '{"title":"x"}}', 'undefined'])(
    'returns invalid_json for %j',
    async (body) => {
      // An empty body counts as `{}` and therefore lacks the title; any other body must be JSON.
      const code = body === '' ? 'invalid_request' : 'invalid_json'
      await expectError(400, code, ...post(body))
    },
  )

  it.each(['null', '[]', '"title"', '1'])('returns 400 for the body itself when it is %s', async (body) => {
    expect(errorPaths(await expectError(400, 'invalid_request', ...post(body)))).toEqual(['body'])
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', '', 'application/jsonp'])(
    'returns 415 for the content type "%s"',
    async (type) => {
      await expectError(415, 'unsupported_media_type', ...post({ title: 'x' }, { 'content-type': type }))
    },
  )

  it('returns 413 when the body is larger than 64 KB, with or without a Content-Length header', async () => {
    const body = JSON.stringify({ title: 'x', metadata: { fill: 'x'.repeat(64 * 1024) } })
    await expectError(413, 'payload_too_large', ...post(body, { 'content-length': String(body.length) }))
    const stream = new Blob([body]).stream()
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: stream }
    expect((await exports.default.fetch('https://tonearm.test/v1/collection', init)).status).toBe(413)
  })

  it('returns 400 for metadata that is larger than 16 KB in UTF-8 or nested more than 5 levels deep', async () => {
    const large = { fill: 'é'.repeat(8 * 1024) }
    expect(errorPaths(await expectError(400, 'invalid_request', ...post({ title: 'x', metadata: large })))).toEqual([
      'metadata',
    ])
    const deep = { a: { b: { c: { d: { e: {} } } } } }
    expect(errorPaths(await expectError(400, 'invalid_request', ...post({ title: 'x', metadata: deep })))).toEqual([
      'metadata',
    ])
  })

  it('returns 400 and does not crash for metadata that is nested ten thousand levels deep', async () => {
    const metadata = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
    // 60 KB of braces are below the size limit of a body.
    await expectError(400, 'invalid_request', ...post(`{"title":"x","metadata":${metadata}}`))
  })

  it.each([{ metadata: [] }, { metadata: 'x' }, { metadata: null }])('returns 400 for %j', async (body) => {
    expect(errorPaths(await expectError(400, 'invalid_request', ...post({ title: 'x', ...body })))).toEqual([
      'metadata',
    ])
  })

  it('returns all invalid fields in one response, including unknown fields', async () => {
    const body = { title: 1, creator_id: 'me', player_color: 'red', color_name: 'red' }
    const answer = await expectError(400, 'invalid_request', ...post(body))
    expect(errorPaths(answer).toSorted()).toEqual(['color_name', 'creator_id', 'player_color', 'title'])
  })

  it('returns unknown_field when all known fields are valid', async () => {
    const answer = await expectError(400, 'unknown_field', ...post({ title: 'x', color_name: 'red', id: 1 }))
    expect(errorPaths(answer)).toEqual(['color_name', 'id'])
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import { FILE, SOUND, startZone, type Zone } from './media_setup.ts'

/** Requests to a zone with the rules of a deployment, over HTTP (docs/decisions/0088). */

let zone: Zone
beforeAll(async () => {
  zone = await startZone()
})
afterAll(() => zone?.close())
beforeEach(() => zone.reset())

describe('a zone with these rules', () => {
  let key: string
  beforeEach(async () => {
    key = (await zone.setUp()).keys[0]!
    zone.edge.reset()
  })
  const signed = () => zone.pathTo(FILE, key)

  test('serves a file once from the bucket and then from its cache, whatever the token', async () => {
    const first = signed()
    expect((await zone.send(first)).headers['cf-cache-status']).toBe('MISS')
    expect((await zone.send(first)).headers['cf-cache-status']).toBe('HIT')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5000 })
    const later = signed()
    expect(later).not.toBe(first)
    const { status, headers, body } = await zone.send(later)
    expect([status, headers['cf-cache-status'], Buffer.compare(body, SOUND)]).toEqual([200, 'HIT', 0])
    expect(zone.edge.counts).toMatchObject({ hits: 2, misses: 1, blocked: 0 })
    vi.useRealTimers()
  })

  test('delivers nothing for other spellings, other files, altered and expired tokens, by any method', async () => {
    await zone.send(signed())
    const path = signed()
    const [file = '', query = ''] = path.split('?')
    const spellings = [
      file,
      `${file}?`,
      `${file.replace('aac-160.m4a', 'lossless.flac')}?${query}`,
      `${file.replace('/j1/', '%2Fj1/')}?${query}`,
      `${file.replace('/j1/', '%2fj1%2f')}?${query}`,
      `${file.replace('/j1/', '//j1/')}?${query}`,
      `/${file}?${query}`,
      `${file.replace('/j1/', '/x/../j1/')}?${query}`,
      `${file.replace('/j1/', '/./j1/')}?${query}`,
      `${file.replace('/org/', '/ORG/')}?${query}`,
      `${file.replace('aac', '%61ac')}?${query}`,
      `${path}&x=1`,
      `${file}?x=1&${query}`,
      path.replace('X-Amz-Expires=60', 'X-Amz-Expires=3600'),
      path.replace(/verify=(\d+)/, (_, time) => `verify=${Number(time) + 1}`),
      path.replace(/-.{43}$/, `-${'A'.repeat(43)}`),
      path.replace(/-.{43}$/, '-'),
      path.replace('verify', 'Verify').toUpperCase(),
      '/',
      '/?list-type=2',
    ]
    for (const other of spellings)
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
        expect((await zone.send(other, { method })).status, `${method} ${other}`).toBe(403)
    expect(zone.edge.counts.blocked).toBe(spellings.length * 5)
    expect(zone.edge.counts).toMatchObject({ hits: 0, misses: 1 })
    // The token of this URL is valid for a minute, even if the file is cached.
    zone.edge.clock.offset = 58
    expect((await zone.send(path)).status).toBe(200)
    zone.edge.clock.offset = 61
    expect((await zone.send(path)).status).toBe(403)
    zone.edge.clock.offset = 300
    expect((await zone.send(path)).status).toBe(403)
    zone.edge.clock.offset = -300
    expect((await zone.send(path)).status).toBe(200)
  })

  test('responds to HEAD, ranges and preflight requests, and lets pages read the responses', async () => {
    const origin = { origin: 'https://shop.example' }
    const get = async (range: string, method = 'GET') => {
      const { status, headers, body } = await zone.send(signed(), { method, headers: { range, ...origin } })
      return {
        status,
        length: body.length,
        range: headers['content-range'],
        cors: headers['access-control-allow-origin'],
        type: headers['content-type'],
        body,
      }
    }
    expect(await get('', 'HEAD')).toMatchObject({ status: 200, length: 0, cors: '*' })
    expect(await get('bytes=0-99')).toMatchObject({ status: 206, length: 100, range: 'bytes 0-99/5000', cors: '*' })
    expect(await get('bytes=4990-9000')).toMatchObject({ status: 206, length: 10, range: 'bytes 4990-4999/5000' })
    expect(await get('bytes=-1')).toMatchObject({ status: 206, length: 1, range: 'bytes 4999-4999/5000' })
    expect(await get('bytes=5000-')).toMatchObject({ status: 416, length: 0, range: 'bytes */5000', cors: '*' })
    const three = await get('bytes=0-0,10-19,4999-')
    expect(three).toMatchObject({ status: 206, type: 'multipart/byteranges; boundary=part', cors: '*' })
    expect(three.body.toString('latin1').match(/content-range: bytes (0-0|10-19|4999-4999)\/5000/g)).toHaveLength(3)
    expect(zone.edge.counts).toMatchObject({ ranges: 5, misses: 1 })
    const headers = { ...origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'range' }
    const preflight = await zone.send(signed(), { method: 'OPTIONS', headers })
    expect([preflight.status, preflight.headers['access-control-allow-headers']]).toEqual([204, 'range'])
    const { headers: seen } = await zone.send(signed(), { headers: origin })
    expect(seen['access-control-expose-headers']).toContain('Content-Range')
    expect(seen['x-content-type-options']).toBe('nosniff')
  })

  test('passes on a file above the limit of its cache, with ranges, and never stores it', async () => {
    const large = () => zone.pathTo('media/org/col/idx/j1/lossless.flac', key)
    for (let i = 0; i < 2; i++) {
      const { status, headers, body } = await zone.send(large(), { headers: { range: 'bytes=19990-' } })
      expect([status, headers['cf-cache-status'], body.length]).toEqual([206, 'BYPASS', 10])
    }
    expect((await zone.send(zone.pathTo('media/none', key))).status).toBe(404)
  })
})

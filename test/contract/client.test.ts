import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { afterEach, describe, expect, it, vi } from 'vitest'

import { createClient, pages } from '../../src/client/index.ts'

/** Tests the client against a real HTTP server that misbehaves on purpose. */

type Answer = (request: IncomingMessage, response: ServerResponse) => void

let server: Server
const requests: { method: string; url: string; key: string | undefined }[] = []

/** Answers the n-th request with the n-th entry of `answers`, and all further requests with the last entry. */
async function serve(...answers: Answer[]) {
  requests.length = 0
  server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    requests.push({ method, url, key: headers['idempotency-key'] as string | undefined })
    answers[Math.min(requests.length, answers.length) - 1]?.(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return createClient({ base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, api_key: 'key' })
}
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const json =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
const good = json(200, { ok: true, count: 0, collections: [], limits: [] })
const hangUp: Answer = (request) => void request.socket.destroy()

describe('a call', () => {
  it('sends the lists of a query with commas, and does not compile with unknown names', async () => {
    const client = await serve(good)
    await client.get('/v1/track', { query: { status: ['ready', 'incomplete'], include: ['levels'], limit: 2 } })
    expect(decodeURIComponent(requests[0]!.url)).toBe('/v1/track?status=ready,incomplete&include=levels&limit=2')
    // @ts-expect-error -- not a status
    await client.get('/v1/track', { query: { status: ['nonsense'] } })
    // @ts-expect-error -- not a part of a track
    await client.get('/v1/track', { query: { include: ['nonsense'] } })
  })

  it('accepts each form of the body of a share, and none that lacks an id', async () => {
    const client = await serve(good)
    await client.post('/v1/share', { body: { scope: 'track', id: 'a', title: 'A' } })
    await client.post('/v1/share', { body: { playlist_id: 'a', title: 'A' } })
    // @ts-expect-error -- lacks `id`
    await client.post('/v1/share', { body: { scope: 'track' } })
    // @ts-expect-error -- lacks all of them
    await client.post('/v1/share', { body: { title: 'A' } })
    expect(requests.map(({ url }) => url)).toEqual(Array.from({ length: 4 }, () => '/v1/share'))
  })

  it('is repeated when the connection is lost, and a repeated POST has the same Idempotency-Key', async () => {
    const client = await serve(hangUp, json(500, { ok: false, message: 'x', code: 'internal' }), good)
    expect((await client.post('/v1/collection', { body: { title: 'A' } })).ok).toBe(true)
    expect(requests).toHaveLength(3)
    expect(new Set(requests.map(({ key }) => key)).size).toBe(1)
    expect(requests[0]?.key).toMatch(/^[0-9a-f]{32}$/)
  })

  it('is repeated when its response is incomplete or has the status 408', async () => {
    const half: Answer = (request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '99' })
      response.write('{"ok":', () => request.socket.destroy())
    }
    const client = await serve(half, json(408, { ok: false, message: 'Slow' }), good)
    expect((await client.post('/v1/collection', { body: { title: 'A' } })).ok).toBe(true)
    expect(new Set(requests.map(({ key }) => key)).size).toBe(1)
    expect(requests).toHaveLength(3)
  })

  it('is repeated when it receives no response', async () => {
    const client = await serve(() => vi.advanceTimersByTime(60_000), good)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
    try {
      expect((await client.get('/v1/limits')).ok).toBe(true)
    } finally {
      vi.useRealTimers()
    }
    expect(requests).toHaveLength(2)
  })

  it('fails when its response cannot be parsed, regardless of the status', async () => {
    const client = await serve((_, response) => response.writeHead(200).end('<h1>Welcome to the airport</h1>'))
    const deleted = await client.delete('/v1/track/{track_id}', { params: { track_id: 'a' } })
    expect(deleted).toMatchObject({
      ok: false,
      code: 'not_json',
      status: 200,
      message: 'The service sent no JSON (200)',
    })
    expect(requests).toHaveLength(1)
    expect((await client.get('/v1/limits')).ok).toBe(false)
    expect(requests).toHaveLength(4)
  })

  it('fails with the code network when a successful response is cut off', async () => {
    const client = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"ok":')
      setImmediate(() => response.destroy())
    })
    expect(await client.get('/v1/limits')).toMatchObject({ ok: false, code: 'network', status: 0 })
    expect(requests).toHaveLength(3)
  })

  it('fails when the base URL is invalid, with the same error as for an unreachable server', async () => {
    await serve(good)
    const answer = await createClient({ base_url: 'nowhere' }).get('/v1/limits')
    expect(answer).toMatchObject({ ok: false, code: 'network', status: 0 })
  })

  it('is not repeated when it is a deletion or a change with If-Match, because the second response would be misleading', async () => {
    const client = await serve(hangUp)
    const deleted = await client.delete('/v1/track/{track_id}', { params: { track_id: 'a' } })
    expect(deleted).toMatchObject({ ok: false, code: 'network', status: 0 })
    const options = { params: { playlist_id: 'a' }, headers: { 'if-match': '1' }, body: { track_ids: [] } }
    expect((await client.put('/v1/playlist/{playlist_id}/track', options)).ok).toBe(false)
    expect(requests).toHaveLength(2)
  })

  it('is repeated after a 503, unless it is a deletion, which may have taken effect', async () => {
    const unavailable = json(503, { ok: false, message: 'Down', code: 'unavailable' }, { 'retry-after': '1' })
    let client = await serve(unavailable, good)
    expect((await client.post('/v1/collection', { body: { title: 'A' } })).ok).toBe(true)
    expect(new Set(requests.map(({ key }) => key)).size).toBe(1)
    server.close()
    client = await serve(unavailable, good)
    expect(await client.delete('/v1/track/{track_id}', { params: { track_id: 'a' } })).toMatchObject({ status: 503 })
    expect(requests).toHaveLength(1)
  })

  it('is repeated after the number of seconds in Retry-After, but fails at once when Retry-After is a minute', async () => {
    const busy = { ok: false, message: 'busy', code: 'rate_limited' }
    let client = await serve(json(429, busy, { 'retry-after': '1' }), good)
    expect((await client.delete('/v1/track/{track_id}', { params: { track_id: 'a' } })).ok).toBe(true)
    expect(requests).toHaveLength(2)
    server.close()
    client = await serve(json(429, busy, { 'retry-after': '60' }))
    expect(await client.get('/v1/limits')).toMatchObject({ ok: false, code: 'rate_limited', status: 429 })
    expect(requests).toHaveLength(1)
  })

  it('fails with the last error after its retries, and at once when the error is the caller’s fault', async () => {
    let client = await serve(json(500, { ok: false, message: 'Oh', code: 'internal' }))
    expect(await client.get('/v1/limits')).toMatchObject({ ok: false, code: 'internal', status: 500 })
    expect(requests).toHaveLength(3)
    server.close()
    client = await serve(json(404, { ok: false, message: 'No', code: 'not_found' }))
    expect(await client.get('/v1/limits')).toMatchObject({ ok: false, code: 'not_found', status: 404 })
    expect(requests).toHaveLength(1)
  })

  it('ends when its signal is aborted, even while it waits for a retry', async () => {
    const client = await serve(hangUp)
    const controller = new AbortController()
    const call = client.get('/v1/limits', { signal: controller.signal })
    setTimeout(() => controller.abort(), 100)
    expect(await call).toMatchObject({ ok: false, code: 'aborted' })
    expect(requests.length).toBeLessThan(3)
  })
})

describe('the iterator `pages`', () => {
  it('reads a list to its end, and reports a page that could not be read', async () => {
    const page = (from: number) => json(200, { ok: true, count: 5, collections: [{ title: `${from}` }] })
    const client = await serve(page(0), page(2), json(403, { ok: false, message: 'No', code: 'insufficient_scope' }))
    const results = []
    for await (const answer of pages(client, '/v1/collection', { query: { creator_id: 'c' } }, 2)) {
      results.push(answer.ok ? answer.collections[0]?.title : answer.code)
    }
    expect(results).toEqual(['0', '2', 'insufficient_scope'])
    expect(requests.map(({ url }) => url)).toEqual(
      [0, 2, 4].map((offset) => `/v1/collection?creator_id=c&limit=2&offset=${offset}`),
    )
  })

  it('continues with `after`, where a list has it', async () => {
    const page = (title: string, after: string | null) =>
      json(200, { ok: true, count: 1, is_count_exact: false, after, collections: title ? [{ title }] : [] })
    const client = await serve(page('0', 'x.1'), page('', 'y.&2'), page('1', null))
    const titlesRead = []
    for await (const answer of pages(client, '/v1/collection', { query: { q: 'x' } }, 1)) {
      if (answer.ok) titlesRead.push(...answer.collections.map(({ title }) => title))
    }
    expect(titlesRead).toEqual(['0', '1'])
    const places = requests.map(({ url }) => url?.split('&limit=1&')[1])
    expect(places).toEqual(['offset=0', 'after=x.1', 'after=y.%262'])
  })

  it('continues until a page is not full when the count is not exact', async () => {
    const page = (...titles: string[]) =>
      json(200, { ok: true, count: 2, is_count_exact: false, collections: titles.map((title) => ({ title })) })
    const client = await serve(page('0', '1'), page('2', '3'), page('4'))
    const titlesRead = []
    for await (const answer of pages(client, '/v1/collection', { query: { q: 'x' } }, 2)) {
      if (answer.ok) titlesRead.push(...answer.collections.map(({ title }) => title))
    }
    expect(titlesRead).toEqual(['0', '1', '2', '3', '4'])
    expect(requests).toHaveLength(3)
  })
})

import { beforeEach, describe, expect, it, vi } from 'vitest'

import { aPlaySession, aWaitingTrack, call, errorPaths, HOUR, ok, readTrack, UNKNOWN_ID } from '../support/api.ts'
import { aTenant, type Tenant } from '../support/fixtures.ts'
import { uploadAndProcess } from '../support/processed_track.ts'
import { statusOf, visit } from '../support/signed.ts'
import { eventsOf } from '../support/tenant_events.ts'
import { completeResult, serveTranscoder } from '../support/transcoder.ts'

/** The chapters that people set (docs/edit.md#chapters). */

const OF_FILE = [
  { start: 0, title: 'One' },
  { start: 4, title: null },
]

let tenant: Tenant
let track_id: string
let duration = 10

beforeEach(async () => {
  vi.restoreAllMocks()
  duration = 10
  serveTranscoder((job) => completeResult(job, { duration, info: { chapters: OF_FILE, chapter_count: 2 } }))
  tenant = await aTenant()
  track_id = await aWaitingTrack(tenant.key, tenant.collection_id)
  await uploadAndProcess(tenant.key, track_id)
})

const put = (chapters: unknown, headers = {}, more = {}) =>
  call('PUT', `/v1/track/${track_id}/chapters`, { key: tenant.key, body: { chapters, ...more }, headers })
const viewed = async (body: object = {}) => {
  const { play_session_id } = await aPlaySession(tenant.key, 'track', track_id, body)
  return ok('GET', `/v1/play/${play_session_id}/${track_id}`)
}
const heard = async () => (await viewed()).chapters

describe('chapters', () => {
  it('replace those of the file in play views, until they are deleted', async () => {
    expect(await heard()).toEqual(OF_FILE)
    expect((await readTrack(tenant.key, track_id)).chapters).toBeNull()
    const chapters = [
      { startTime: 0, title: 'Opening', url: 'https://example.com/a', img: 'https://example.com/a.jpg' },
      { startTime: 2.5, endTime: 3 },
      { startTime: 3.00049, title: 'Not listed', toc: false },
    ]
    const { status, body } = await put(chapters, {}, { version: '1.2.0' })
    expect(status).toBe(200)
    const stored = [...chapters.slice(0, 2), { ...chapters[2], startTime: 3 }]
    expect(body.track.chapters).toEqual(stored)
    expect((await readTrack(tenant.key, track_id)).chapters).toEqual(stored)
    expect((await readTrack(tenant.key, track_id)).info.chapters).toEqual(OF_FILE)
    expect(await heard()).toEqual([
      { start: 0, title: 'Opening' },
      { start: 2.5, title: null },
    ])
    const remove = () => ok('DELETE', `/v1/track/${track_id}/chapters`, { key: tenant.key })
    expect((await remove()).track.chapters).toBeNull()
    expect(await heard()).toEqual(OF_FILE)
    // Deleting them again changes nothing.
    expect((await remove()).track.chapters).toBeNull()
  })

  it('are also replaced by an empty list', async () => {
    await put([])
    expect(await heard()).toEqual([])
  })

  it('remain when the file is replaced, except those after its end', async () => {
    await put([{ startTime: 1 }, { startTime: 8 }])
    duration = 5
    await ok('POST', `/v1/track/${track_id}/upload`, { key: tenant.key, body: {} })
    await uploadAndProcess(tenant.key, track_id)
    expect(await heard()).toEqual([{ start: 1, title: null }])
  })

  it('can be set before the length is known', async () => {
    const waiting = await aWaitingTrack(tenant.key, tenant.collection_id)
    const body = { chapters: [{ startTime: 5000, title: 'Late' }] }
    await ok('PUT', `/v1/track/${waiting}/chapters`, { key: tenant.key, body })
    const { duration, chapters } = await ok('GET', `/v1/track/${waiting}/chapters`, { key: tenant.key })
    expect([duration, chapters]).toEqual([0, body.chapters])
  })

  it('record an event, and increase the version, which If-Match compares', async () => {
    const { version } = await readTrack(tenant.key, track_id)
    expect((await put([{ startTime: 1 }], { 'if-match': `${version}` })).status).toBe(200)
    const event = (await eventsOf(tenant.key)).findLast(({ type }) => type === 'track.updated')
    expect(event?.data).toMatchObject({ changed: ['chapters'] })
    const { status, body } = await put([{ startTime: 2 }], { 'if-match': `${version}` })
    expect([status, body.code]).toEqual([412, 'version_mismatch'])
    expect((body as unknown as { current: object }).current).toEqual(await readTrack(tenant.key, track_id))
    // The same chapters again, after a lost response.
    expect((await put([{ startTime: 1 }], { 'if-match': `${version}` })).status).toBe(200)
  })

  it('are returned as this request set them, even with simultaneous requests', async () => {
    const titles = Array.from({ length: 10 }, (_, at) => `Title ${at}`)
    const answers = await Promise.all(titles.map((title) => put([{ startTime: 1, title }])))
    expect(answers.map(({ body }) => body.track.chapters?.[0]?.title)).toEqual(titles)
    expect(new Set(answers.map(({ body }) => body.track.version)).size).toBe(titles.length)
  })

  it.each([
    ['after the end', [{ startTime: 10 }], 'chapters.0.startTime'],
    ['negative', [{ startTime: -1 }], 'chapters.0.startTime'],
    ['no number', [{ startTime: null }], 'chapters.0.startTime'],
    ['not finite', [{ startTime: 1e300 * 1e10 }], 'chapters.0.startTime'],
    ['a text', [{ startTime: '1' }], 'chapters.0.startTime'],
    ['unordered', [{ startTime: 2 }, { startTime: 1 }], 'chapters.1.startTime'],
    ['twice the same', [{ startTime: 1 }, { startTime: 1.0001 }], 'chapters.1.startTime'],
    ['ends before it starts', [{ startTime: 2, endTime: 1 }], 'chapters.0.endTime'],
    ['a title of 256 emoji', [{ startTime: 0, title: '🎷'.repeat(256) }], 'chapters.0.title'],
    ['a title without text', [{ startTime: 0, title: ' \n ' }], 'chapters.0.title'],
    ['a script as an address', [{ startTime: 0, url: 'javascript:alert(1)' }], 'chapters.0.url'],
    ['data as an image', [{ startTime: 0, img: 'data:image/svg+xml,<svg/>' }], 'chapters.0.img'],
    ['10,000 chapters', Array.from({ length: 10_000 }, (_, at) => ({ startTime: at / 1000 })), 'chapters'],
    ['no list', { 0: { startTime: 0 } }, 'chapters'],
  ])('are refused with 400 if a chapter is wrong: %s', async (_, chapters, path) => {
    const { status, body } = await put(chapters)
    expect([status, body.code, errorPaths(body)]).toEqual([400, 'invalid_request', [path]])
    expect((await readTrack(tenant.key, track_id)).chapters).toBeNull()
  })

  it('keep markup and 255 emoji as plain text, and refuse unknown fields', async () => {
    for (const title of ['<img src=x onerror=alert(1)>', '🎷'.repeat(255)]) {
      await put([{ startTime: 0, title }])
      expect(await heard()).toEqual([{ start: 0, title }])
    }
    expect((await put([{ startTime: 0, location: {} }])).body.code).toBe('unknown_field')
  })

  it('return 404 for another organization and an unknown track', async () => {
    const { key } = await aTenant()
    for (const id of [track_id, UNKNOWN_ID]) {
      const path = `/v1/track/${id}/chapters`
      expect((await call('PUT', path, { key, body: { chapters: [] } })).status).toBe(404)
      expect((await call('DELETE', path, { key })).status).toBe(404)
    }
  })
})

describe('a file of the chapters', () => {
  const chapters = [
    { startTime: 0, title: 'Opening --> <b>', img: 'https://example.com/a.jpg', url: 'https://example.com/a' },
    { startTime: 2.5, endTime: 3, title: 'Hidden', toc: false },
    { startTime: 4 },
  ]
  const cues = ['00:00:00.000 --> 00:00:04.000\nOpening --&gt; &lt;b&gt;\n', '00:00:04.000 --> 00:00:10.000\n0:04\n']
  const asVtt = ['WEBVTT\n', ...cues].join('\n')
  const types = ['application/json+chapters', 'text/vtt; charset=utf-8']
  const read = async (url: string, headers = {}) => {
    const { status, headers: sent, text } = await visit(url.replace('https://tonearm.test', ''), { headers })
    expect([status, sent.get('access-control-allow-origin')]).toEqual([200, '*'])
    return [sent.get('content-type'), text]
  }

  it('is at the addresses in play views, as JSON Chapters and as WebVTT', async () => {
    await put(chapters)
    const view = await viewed()
    expect(view.chapters.map(({ start }) => start)).toEqual([0, 4])
    const [json, vtt] = await Promise.all([read(view.chapter_files!.json), read(view.chapter_files!.vtt)])
    expect(json).toEqual([types[0], JSON.stringify({ version: '1.2.0', chapters })])
    expect(vtt).toEqual([types[1], asVtt])
  })

  it('has the chapters of the file if none were set, and no address if there are none', async () => {
    const { chapter_files } = await viewed()
    const listed = [{ startTime: 0, title: 'One' }, { startTime: 4 }]
    expect(JSON.parse((await read(chapter_files!.json))[1]!)).toEqual({ version: '1.2.0', chapters: listed })
    await put([])
    expect((await viewed()).chapter_files).toBeNull()
  })

  it('needs a session that plays the track and has not ended', async () => {
    const { chapter_files, play_session_id: id } = await viewed()
    const path = (session: string, track: string, file = 'chapters.vtt') => `/v1/play/${session}/${track}/${file}`
    const other = await aWaitingTrack(tenant.key, tenant.collection_id)
    for (const each of [path(UNKNOWN_ID, track_id), path('none', track_id), path(id, other), path(id, 'none')])
      expect([each, await statusOf(each)]).toEqual([each, 404])
    expect(await statusOf(path(id, track_id, 'chapters.txt'))).toBe(404)
    expect(await statusOf(path(id, track_id), { method: 'HEAD' })).toBe(200)
    vi.setSystemTime(Date.now() + 2 * HOUR)
    expect(await statusOf(new URL(chapter_files!.vtt).pathname)).toBe(410)
  })

  it('is returned to server keys that accept its type, and JSON to others', async () => {
    await put(chapters)
    const path = `/v1/track/${track_id}/chapters`
    const authorization = `Bearer ${tenant.key}`
    const answer = await ok('GET', path, { key: tenant.key })
    expect(answer).toMatchObject({ track_id, duration: 10, version: '1.2.0', chapters })
    const accepting = (accept: string) => read(path, { authorization, accept })
    expect(await accepting('text/vtt')).toEqual([types[1], asVtt])
    expect(await accepting('application/json+chapters, */*')).toEqual([
      types[0],
      JSON.stringify({ version: '1.2.0', chapters }),
    ])
    for (const accept of ['*/*', 'text/html', 'application/json, text/vtt'])
      expect((await accepting(accept))[0]).toBe('application/json')
    expect(await statusOf(path)).toBe(401)
    expect((await call('GET', path, { key: (await aTenant()).key })).status).toBe(404)
  })
})

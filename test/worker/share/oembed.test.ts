import { exports } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'

import { tracks } from '../../../src/adapters/db/schema/library.ts'
import { playSessions } from '../../../src/adapters/db/schema/play_sessions.ts'
import {
  aPlaylist,
  aPlaySession,
  call,
  createTrack,
  db,
  ok,
  expectError,
  UNKNOWN_ID,
  errorPaths,
} from '../support/api.ts'
import { aReadyTrack, aTenant } from '../support/fixtures.ts'
import { isSignedFor, signedParts } from '../support/signature.ts'

/** `GET /oembed`, as specified at https://oembed.com. */

let key: string
let collection_id: string
let address: string
let play_session_id: string
let track_id: string

beforeEach(async () => {
  ;({ key, collection_id } = await aTenant())
  track_id = await aReadyTrack(key, collection_id, { player_title: 'So "What"', player_subtitle: 'Miles Davis' })
  ;({ play_session_id } = await aPlaySession(key, 'track', track_id))
  address = `https://tonearm.test/embed/${play_session_id}`
})

const path = (parameters: Record<string, string>) => `/oembed?${new URLSearchParams(parameters).toString()}`

describe('oEmbed', () => {
  it('describes a session as type `rich`, with the frame and its size', async () => {
    const { status, headers, body } = await call('GET', path({ url: address, format: 'json' }))
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(body).toEqual({
      version: '1.0',
      type: 'rich',
      title: 'So "What"',
      author_name: 'Miles Davis',
      provider_name: 'Tonearm',
      provider_url: 'https://tonearm.test',
      cache_age: 600,
      thumbnail_url: expect.stringMatching(/^https:\/\/tonearm\.test\/cover\/SW-\d+-7{32}\/regular\.png$/),
      thumbnail_width: 400,
      thumbnail_height: 400,
      html: expect.stringMatching(
        new RegExp(`^<iframe src="${address}" title="So &quot;What&quot;" width="480" height="176" .*></iframe>$`),
      ),
      width: 480,
      height: 176,
    })
  })

  it('limits the frame and the thumbnail to maxwidth and maxheight', async () => {
    const small = await ok('GET', path({ url: address, maxwidth: '300', maxheight: '160' }))
    expect(small).toMatchObject({ width: 300, height: 120, thumbnail_width: 80, thumbnail_height: 80 })
    expect(small.html).toContain(`src="${address}?layout=compact"`)
    const tiny = await ok('GET', path({ url: address, maxwidth: '40', maxheight: '50' }))
    expect(tiny).toMatchObject({ width: 40, height: 50 })
    expect(tiny).not.toHaveProperty('thumbnail_url')
    const cover = `${address}?layout=cover`
    expect(await ok('GET', path({ url: cover }))).toMatchObject({ width: 480, height: 480 })
    const square = await ok('GET', path({ url: cover, maxwidth: '300', maxheight: '600' }))
    expect(square).toMatchObject({ width: 300, height: 300, html: expect.stringContaining('?layout=cover"') })
    const low = await ok('GET', path({ url: cover, maxheight: '150' }))
    expect(low).toMatchObject({ width: 480, height: 120, html: expect.stringContaining('?layout=compact"') })
    const roomy = await ok('GET', path({ url: address, maxwidth: '2000', maxheight: '2000' }))
    expect(roomy).toMatchObject({ width: 480, height: 176 })
    for (const wrong of ['maxwidth=0', 'maxwidth=wide', 'maxheight=-1', 'maxheight=1.5']) {
      const body = await expectError(400, 'invalid_request', 'GET', `${path({ url: address })}&${wrong}`)
      expect(errorPaths(body)).toEqual([wrong.split('=')[0]])
    }
  })

  it('gives a list of one track the frame size of a track, and a longer list the frame size of a list', async () => {
    const playlist_id = await aPlaylist(key)
    const heights = async () => {
      const lists = [
        ['collection', collection_id],
        ['playlist', playlist_id],
      ] as const
      const answers = lists.map(async ([scope, id]) => {
        const session = await aPlaySession(key, scope, id)
        const { height } = await ok('GET', path({ url: `https://tonearm.test/embed/${session.play_session_id}` }))
        return height
      })
      return Promise.all(answers)
    }
    expect(await heights()).toEqual([176, 480])
    await ok('PUT', `/v1/playlist/${playlist_id}/track`, { key, body: { track_ids: [track_id] } })
    // This track is not in the session's list until its file is uploaded.
    const waiting = await createTrack(key, collection_id, { file_name: 'later.wav' })
    expect(await heights()).toEqual([176, 176])
    await db.update(tracks).set({ status: 'processing' }).where(eq(tracks.id, waiting.track_id))
    await ok('PUT', `/v1/playlist/${playlist_id}/track`, { key, body: { track_ids: [track_id, track_id] } })
    expect(await heights()).toEqual([400, 400])
  })

  it('keeps the parameters for the appearance from the URL', async () => {
    const { html } = await ok('GET', path({ url: `${address}?theme=dark&accent=C0FFEE&evil=%22%3E` }))
    expect(html).toContain(`src="${address}?theme=dark&amp;accent=%23C0FFEE"`)
  })

  it('keeps the position, the part and the track in the hash of the URL, and nothing else', async () => {
    const srcOf = async (hash: string) => {
      const { html } = await ok('GET', path({ url: `${address}?theme=dark${hash}` }))
      return /src="([^"]*)"/.exec(html)![1]!.replace(`${address}?theme=dark`, '')
    }
    expect(await srcOf('#t=1:02,75&track=2')).toBe('#t=1:02,75&amp;track=2')
    expect(await srcOf('')).toBe('')
    for (const hash of ['#', '#"onload=', '#<b>', '#t=1 2']) expect(await srcOf(hash), hash).toBe('')
  })

  it('returns 501 for XML, 400 without a URL, and 404 for foreign and unknown URLs', async () => {
    const xml = await exports.default.fetch(`https://tonearm.test${path({ url: address, format: 'xml' })}`)
    expect(xml.status).toBe(501)
    await expectError(400, 'invalid_request', 'GET', '/oembed')
    const foreign = [
      'https://example.com/embed/1',
      address.replace('tonearm.test', 'tonearm.test.example.com'),
      address.replace('tonearm.test', 'tonearm.tesx'),
      address.replace('https', 'ftp'),
      `https://tonearm.test/embed/${UNKNOWN_ID}`,
      `${address}/more`,
      'https://tonearm.test/',
      'nonsense',
    ]
    for (const url of foreign) await expectError(404, 'not_found', 'GET', path({ url }))
  })

  it('signs the URL of the cover for no longer than the session, and returns 404 after the end of the session', async () => {
    const end = (expires_at: number) =>
      db.update(playSessions).set({ expires_at }).where(eq(playSessions.id, play_session_id))
    await db.update(tracks).set({ cover_path: 'covers/here' }).where(eq(tracks.id, track_id))
    const until = Date.now() + 100_000
    await end(until)
    const { thumbnail_url, cache_age } = await ok('GET', path({ url: address }))
    expect(await isSignedFor('GET', thumbnail_url)).toBe(true)
    const { ends } = signedParts(thumbnail_url)
    expect([ends <= until, ends > until - 50_000, cache_age <= 100]).toEqual([true, true, true])
    await end(Date.now() - 1000)
    await expectError(404, 'not_found', 'GET', path({ url: address }))
  })
})

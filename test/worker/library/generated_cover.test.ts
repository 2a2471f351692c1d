import { env, exports } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'

import { answerCover } from '../../../src/http/pages/cover.ts'
import { coverDesign } from '../../../src/resources/library/cover_image.ts'
import { aPlaylist, aPlaySession, expectError, ok, query } from '../support/api.ts'
import { aReadyTrack, aTenant } from '../support/fixtures.ts'
import { fakeRateLimit, openPage } from '../support/share_visitor.ts'

/** Covers that are drawn for resources without one (docs/decisions/0094). */

const BASE = 'https://tonearm.test'
const WAVE = '0123456789abcdef'.repeat(2)

async function png(path: string) {
  const response = await answerCover(env, new Request(BASE + path), path)
  const bytes = new Uint8Array(await response.arrayBuffer())
  return { bytes, view: new DataView(bytes.buffer), response }
}

describe('the design of a generated cover', () => {
  it.each([
    ['Tidal Rooms', 'TR'],
    ['harbour', 'H'],
    ['The Dark Side of the Moon', 'TD'],
    ['Élan Œuvre', 'EO'],
    ['Øresund', 'O'],
    ["Don't Look", 'DL'],
    ['01 Intro', 'I'],
    ['1999', ''],
    ['東京の夜', ''],
    ['ليلة في بيروت', ''],
    ['😀'.repeat(255), ''],
    ['<script> & "b"', 'SB'],
    ['', ''],
  ])('has the initials of %j', (title, initials) => {
    expect(coverDesign(title, null)).toMatch(new RegExp(`^${initials}-\\d+-$`))
  })

  it('has the hue of the title, or of the album, and every tenth level', () => {
    const hue = (title: string, album?: string) => Number(coverDesign(title, null, album).split('-')[1])
    expect(hue('Album 1')).toBe(hue('Album 1'))
    expect(Math.abs(hue('Album 1') - hue('Album 2'))).toBeGreaterThan(30)
    expect(hue('Song', 'Album 1')).toBe(hue('Album 1'))
    const levels = Array.from(WAVE, (digit) => digit.toUpperCase() + '0'.repeat(24)).join('')
    expect(coverDesign('', levels).split('-')[2]).toBe(WAVE)
  })
})

describe('GET /cover/{design}/{file}', () => {
  it('draws an SVG without scripts, which any cache may keep', async () => {
    const { status, headers, text } = await openPage(`/cover/TR-209-${WAVE}/regular.svg`)
    expect([status, headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(headers.get('content-security-policy')).toBe("default-src 'none'")
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(text).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" viewBox="0 0 400 400" width="400" height="400">/)
    // A ground, the waveform and two letters.
    expect(text.match(/<path /g)).toHaveLength(4)
    expect(text).not.toMatch(/script|\son\w+=|href|style/)
    const waveOnly = (await openPage(`/cover/-0-${WAVE}/icon.svg`)).text
    expect(waveOnly.match(/<path /g)).toHaveLength(2)
    expect(waveOnly).toContain('width="80"')
  })

  it.each([
    ['icon', 80],
    ['small', 200],
    ['regular', 400],
    ['large', 1400],
  ])('draws the PNG %s with %i pixels per side', async (name, size) => {
    const { bytes, view, response } = await png(`/cover/TR-209-${WAVE}/${name}.png`)
    expect(response.headers.get('content-type')).toBe('image/png')
    expect([...bytes.subarray(0, 8)]).toEqual([137, 80, 78, 71, 13, 10, 26, 10])
    expect([view.getUint32(16), view.getUint32(20)]).toEqual([size, size])
    expect(bytes.length).toBeLessThan(40_000)
  })

  it('draws the same in both formats: the letters and the waveform are where the SVG has them', async () => {
    const { bytes, view } = await png('/cover/I-0-ffffffffffffffffffffffffffffffff/regular.png')
    // The header has 33 bytes, and the palette 12 and its colors. The compressed data follow.
    const palette = view.getUint32(33)
    const start = 33 + 12 + palette
    const data = bytes.slice(start + 8, start + 8 + view.getUint32(start))
    const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream('deflate'))
    const pixels = new Uint8Array(await new Response(stream).arrayBuffer())
    expect(pixels).toHaveLength(400 * 401)
    const at = (x: number, y: number) => pixels[y * 401 + 1 + x]
    const full = palette / 3 - 1
    // The ground, the only letter in the middle, and the first bar at the left margin.
    expect([at(5, 5), at(200, 148), at(40, 308), at(40, 200)]).toEqual([0, full, full / 2, 0])
  })

  it('limits large PNGs for each client, and nothing else', async () => {
    const limited = { ...env, PLAY_RATE_LIMIT: fakeRateLimit(1) }
    const draw = (file: string, client: string) =>
      answerCover(
        { ...limited, CLIENT_IP_HEADER: 'x-client' },
        new Request(BASE, { headers: { 'x-client': client } }),
        `/cover/A-0-${WAVE}/${file}`,
      ).then(
        ({ status }) => status,
        ({ status }: { status: number }) => status,
      )
    expect(await draw('large.png', '192.0.2.1')).toBe(200)
    expect(await draw('large.png', '192.0.2.1')).toBe(429)
    expect(await draw('large.png', '192.0.2.2')).toBe(200)
    for (const file of ['large.svg', 'regular.png', 'icon.png']) expect(await draw(file, '192.0.2.1')).toBe(200)
  })

  it('responds to HEAD', async () => {
    const { status, headers } = await exports.default.fetch(`${BASE}/cover/A-0-${WAVE}/icon.png`, { method: 'HEAD' })
    expect([status, headers.get('content-type')]).toEqual([200, 'image/png'])
  })

  it.each([
    `A-0-${WAVE}/regular.jpg`,
    `A-0-${WAVE}/huge.png`,
    `A-0-${WAVE}/1400.png`,
    `A-360-${WAVE}/icon.png`,
    `A-007-${WAVE}/icon.png`,
    `A--${WAVE}/icon.png`,
    `a-0-${WAVE}/icon.png`,
    `ABC-0-${WAVE}/icon.png`,
    `%3Cb-0-${WAVE}/icon.svg`,
    `É-0-${WAVE}/icon.svg`,
    `A-0-${WAVE}0/icon.png`,
    `A-0-xyz/icon.png`,
    `A-0-${WAVE}/icon.png/more`,
    `A-0-${WAVE}`,
    `toString/icon.svg`,
    `A-0-%/icon.svg`,
    `A-0-${'f'.repeat(5000)}/icon.svg`,
  ])('returns 404 for %s', async (path) => {
    await expectError(404, 'not_found', 'GET', `/cover/${path}`)
  })
})

describe('a resource without a cover', () => {
  it('has a generated one that follows its title, in lists and in play views, with the same URL everywhere', async () => {
    const { key, collection_id } = await aTenant()
    const track_id = await aReadyTrack(key, collection_id, { player_title: 'Slow Tide' })
    const playlist_id = await aPlaylist(key, [track_id], { title: 'Evening' })
    const title = async (name: string) => ok('PUT', `/v1/collection/${collection_id}`, { key, body: { title: name } })
    await title('Tidal Rooms')
    const collection = async () => (await ok('GET', '/v1/collection?include=artwork', { key })).collections[0]!.artwork!
    const generated = (name: string, levels: string | null, album?: string) =>
      `${BASE}/cover/${coverDesign(name, levels, album)}`
    const [row] = await query<{ hex: string }>('select hex(levels) as hex from tracks')
    const levels = row!.hex
    expect(levels).not.toBe('')
    expect((await collection()).small.url).toBe(`${generated('Tidal Rooms', levels)}/small.png`)
    const own = await ok('GET', `/v1/collection/${collection_id}/cover`, { key })
    expect(own.cover_image.small.url).toBe((await collection()).small.url)
    const ofTrack = `${generated('Slow Tide', levels, 'Tidal Rooms')}/icon.png`
    for (const path of ['/v1/track', `/v1/collection/${collection_id}/track`, `/v1/playlist/${playlist_id}/track`])
      expect((await ok('GET', `${path}?include=artwork`, { key })).tracks[0].artwork.icon.url).toBe(ofTrack)
    const { play_session_id } = await aPlaySession(key, 'collection', collection_id)
    const view = await ok('GET', `/v1/play/${play_session_id}/${track_id}`)
    expect(view.cover_image.icon.url).toBe(ofTrack)
    const { playlists } = await ok('GET', '/v1/playlist?include=artwork', { key })
    expect(playlists[0]!.artwork!.icon.url).toBe(`${generated('Evening', levels)}/icon.png`)
    await title('Harbour Lights')
    expect((await collection()).icon.url).toBe(`${generated('Harbour Lights', levels)}/icon.png`)
    const card = await openPage(`/embed/${play_session_id}`)
    expect(card.text).toContain(`<meta property="og:image" content="${generated('Harbour Lights', levels)}/large.png"`)
  })

  it('has a large square for its owner, until the nearest cover has one', async () => {
    const { key, collection_id } = await aTenant()
    const first = await aReadyTrack(key, collection_id, { player_title: 'Slow Tide' })
    const second = await aReadyTrack(key, collection_id)
    const largeOf = async (track_id: string) => {
      const { large } = (await ok('GET', `/v1/track/${track_id}/cover`, { key })).cover_image
      return large && `${large.width} ${large.url.split('?')[0]!.replace(/^.*(?=cover\/|media\/)/, '')}`
    }
    expect(await largeOf(first)).toMatch(/^1400 cover\/ST-\d+-7{32}\/large\.png$/)
    await query("update tracks set cover_path = 'media/first', cover_size = 900 where id = ?", first)
    expect(await largeOf(first)).toBe('900 media/first/large.jpg')
    expect(await largeOf(second)).toBe('900 media/first/large.jpg')
    await query("update collections set cover_path = 'media/own', cover_size = 700")
    expect(await largeOf(second)).toBe('700 media/own/large.jpg')
    await query('update tracks set cover_size = null')
    expect(await largeOf(first)).toBeNull()
    const other = await aTenant()
    await expectError(404, 'not_found', 'GET', `/v1/track/${first}/cover`, { key: other.key })
  })

  it('has the levels of its first track when the covers of tracks are ignored', async () => {
    const { key, collection_id } = await aTenant()
    await aReadyTrack(key, collection_id)
    await query("update tracks set cover_path = 'media/own'")
    await query("update collections set title = 'Bold', is_cover_overridable = 0")
    const [found] = (await ok('GET', '/v1/collection?include=artwork', { key })).collections
    expect(found!.artwork!.icon.url).toMatch(/\/cover\/B-\d+-7{32}\/icon\.png$/)
  })
})

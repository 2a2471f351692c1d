import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'

import { collections, tracks } from '../../../src/adapters/db/schema/library.ts'
import type { TrackInfo } from '../../../src/contract/info.ts'
import { aPlaylist, aPlaySession, db, ok, expectError, type Scope } from '../support/api.ts'
import { aReadyTrack, aTenant, type Tenant } from '../support/fixtures.ts'
import { isSignedFor, signedParts } from '../support/signature.ts'

/** The listener's view of a track, with all inherited values (docs/architecture.md#inheritance), and its downloads. */

let tenant: Tenant
let track_id: string
beforeEach(async () => {
  tenant = await aTenant()
  track_id = await aReadyTrack(tenant.key, tenant.collection_id, { file_name: 'So What.live.flac' })
})
const set = (noun: 'organization' | 'collection' | 'track', body: object) => {
  const id = { ...tenant, track_id }[`${noun}_id`]
  return ok('PUT', `/v1/${noun}/${id}`, { key: tenant.key, body })
}
const session = (body: object = {}) => aPlaySession(tenant.key, 'collection', tenant.collection_id, body)
async function view() {
  const { play_session_id } = await session()
  const { ok: _, api_request_id: _id, ...view_fields } = await ok('GET', `/v1/play/${play_session_id}/${track_id}`)
  return view_fields
}
const palette = (hex: string) => [{ hex, area: 1, lightness: 0.5, saturation: 0.5 }]
const hexes = (seen: { track: { image_colors: { hex: string }[] } }) => seen.track.image_colors.map(({ hex }) => hex)

describe('a play view', () => {
  it('returns the track, its levels and the URLs of its streams', async () => {
    const playView = await view()
    expect(playView.track).toMatchObject({
      id: track_id,
      collection_id: tenant.collection_id,
      duration: 12.346,
      file_name: 'So What.live.flac',
      player_title: 'So What.live',
      player_subtitle: null,
      player_color: '#2B3440',
      image_colors: [],
      status: 'ready',
      track_status_id: 'ready',
      is_dark: true,
    })
    expect(playView.levels.levels).toHaveLength(320)
    expect(playView.variants[0]).toMatchObject({
      variant: { index: 'aac-160' },
      path: expect.stringMatching(/aac-160\.m4a$/),
    })
  })

  it('contains the types, sizes and bitrates of its files in the order of its variants', async () => {
    const content_type = async (file_info: TrackInfo) => {
      await db.update(tracks).set({ info: file_info }).where(eq(tracks.id, track_id))
      const { files, variants } = (await session({ variants: ['original', 'preview', 'opus-96'] })).first_track!
      expect(files.map(({ index }) => index)).toEqual(variants.map(({ variant }) => variant.index))
      return files[0]!.content_type
    }
    expect(await content_type({ container: 'mov,mp4,m4a,3gp,3g2,mj2' })).toBe('audio/mp4')
    expect(await content_type({ container: 'matroska,webm' })).toBeNull()
    expect(await content_type({})).toBeNull()
    const file = { size: 5, bitrate: 128, duration: 12.346 }
    expect((await view()).files).toEqual([
      { index: 'aac-160', content_type: 'audio/mp4', ...file },
      { index: 'mp3-128', content_type: 'audio/mpeg', ...file },
      { index: 'opus-96', content_type: 'audio/webm; codecs=opus', ...file },
    ])
  })

  it('returns the list that it plays from, and the chapters of the file', async () => {
    const info = {
      chapters: [
        { start: 0, title: 'Overture' },
        { start: 61.5, title: null },
      ],
    }
    await db.update(tracks).set({ info }).where(eq(tracks.id, track_id))
    await set('organization', { player_subtitle: 'Blue Note' })
    const { title } = (await ok('GET', `/v1/collection/${tenant.collection_id}`, { key: tenant.key })).collection
    const fromCollection = { list: { scope: 'collection', title, subtitle: 'Blue Note' }, chapters: info.chapters }
    expect(await view()).toMatchObject(fromCollection)
    const { key } = tenant
    const playlist_id = await aPlaylist(key, [track_id], { title: 'Evening', player_subtitle: 'Mixed' })
    const listOf = async (scope: Scope, id: string) => (await aPlaySession(key, scope, id)).first_track!.list
    expect(await listOf('playlist', playlist_id)).toEqual({ scope: 'playlist', title: 'Evening', subtitle: 'Mixed' })
    expect(await listOf('track', track_id)).toBeNull()
  })

  it('equals the first_track of its session', async () => {
    const { play_session_id, first_track } = await session()
    const playView = await ok('GET', `/v1/play/${play_session_id}/${track_id}`)
    expect(playView.track).toEqual(first_track!.track)
    expect(playView.levels).toEqual(first_track!.levels)
  })

  it('inherits color and subtitle from the nearest level that defines them', async () => {
    const colorAndSubtitle = async () => {
      const { player_color, player_subtitle } = (await view()).track
      return [player_color, player_subtitle]
    }
    await set('organization', { player_color: '#111111', player_subtitle: 'organization' })
    expect(await colorAndSubtitle()).toEqual(['#111111', 'organization'])
    await set('collection', { player_color: '#222222', player_subtitle: 'collection' })
    expect(await colorAndSubtitle()).toEqual(['#222222', 'collection'])
    await set('track', { player_color: '#333333', player_subtitle: 'track', title: 'Title' })
    expect(await colorAndSubtitle()).toEqual(['#333333', 'track'])
    await set('collection', { is_theme_overridable: false })
    expect(await colorAndSubtitle()).toEqual(['#222222', 'track'])
    await set('organization', { is_theme_overridable: false })
    expect(await colorAndSubtitle()).toEqual(['#111111', 'track'])
  })

  it('inherits its image colors from the nearest cover or theme, and a theme takes precedence over a cover of the same level', async () => {
    expect(hexes(await view())).toEqual([])
    await set('organization', { theme: ['#aa0000'] })
    expect(hexes(await view())).toEqual(['#AA0000'])
    const cover = { cover_path: 'media/collection', cover_colors: palette('#00BB00') }
    await db.update(collections).set(cover).where(eq(collections.id, tenant.collection_id))
    expect(hexes(await view())).toEqual(['#00BB00'])
    await set('collection', { theme: ['#0000cc', '#0000dd'] })
    expect(hexes(await view())).toEqual(['#0000CC', '#0000DD'])
    await db.update(tracks).set({ cover_path: 'media/track', cover_colors: palette('#EEEEEE') })
    expect(hexes(await view())).toEqual(['#EEEEEE'])
    await set('collection', { is_theme_overridable: false })
    expect(hexes(await view())).toEqual(['#0000CC', '#0000DD'])
    await set('collection', { theme: [] })
    expect(hexes(await view())).toEqual(['#00BB00'])
  })

  it('states whether white text is more readable on a color than black text', async () => {
    for (const [player_color, is_dark] of [
      ['#000000', true],
      ['#0000FF', true],
      ['#757575', true],
      ['#777777', false],
      ['#00FF00', false],
      ['#FFFFFF', false],
    ]) {
      await set('track', { player_color })
      expect([player_color, (await view()).track.is_dark]).toEqual([player_color, is_dark])
    }
  })

  it('contains a generated cover when there is none, with the color of the collection', async () => {
    const { cover_image, large_cover } = await view()
    const url = (size: string) =>
      expect.stringMatching(`^https://tonearm.test/cover/SW-209-7{32}/${size}.png$`) as string
    expect(cover_image).toEqual({
      icon: { type: 'icon', width: 80, height: 80, url: url('icon') },
      small: { type: 'small', width: 200, height: 200, url: url('small') },
      regular: { type: 'regular', width: 400, height: 400, url: url('regular') },
    })
    expect(large_cover).toBeNull()
  })

  it.each([
    ['track', tracks],
    ['collection', collections],
  ] as const)(
    'contains the large square of the cover of the %s, unless the picture was too small',
    async (_, owner) => {
      await db.update(owner).set({ cover_path: 'media/own', cover_size: 1200 })
      const { large_cover } = await view()
      expect(large_cover).toEqual({ type: 'large', width: 1200, height: 1200, url: expect.any(String) as string })
      expect(signedParts(large_cover!.url).key).toBe('media/own/large.jpg')
      expect(await isSignedFor('GET', large_cover!.url)).toBe(true)
      await db.update(owner).set({ cover_path: 'media/small', cover_size: null })
      expect((await view()).large_cover).toBeNull()
    },
  )

  it('contains the nearest cover that may be used', async () => {
    const cover = async () => signedParts((await view()).cover_image.small.url).key
    await db.update(collections).set({ cover_path: 'media/collection' })
    expect(await cover()).toBe('media/collection/small.jpg')
    await db.update(tracks).set({ cover_path: 'media/track' })
    expect(await cover()).toBe('media/track/small.jpg')
    await set('collection', { is_cover_overridable: false })
    expect(await cover()).toBe('media/collection/small.jpg')
    await set('collection', { is_cover_overridable: true })
    await set('organization', { is_cover_overridable: false })
    expect(await cover()).toBe('media/collection/small.jpg')
  })
})

describe('a download', () => {
  const download = async (index: string, body: object = { is_downloadable: true }) => {
    const { play_session_id } = await session(body)
    return (await ok('GET', `/v1/play/${play_session_id}/${track_id}/${index}/download`)).download
  }

  it('links to the file, which is saved under the name of the upload with the extension of the variant', async () => {
    const { variant, url } = await download('aac-160')
    expect(variant).toBe('aac-160')
    const { key, expires, disposition } = signedParts(url)
    expect(key).toMatch(/\/aac-160\.m4a$/)
    expect(expires).toBeLessThanOrEqual(3600)
    expect(disposition).toBe(`attachment; filename="So What.live.m4a"; filename*=UTF-8''So%20What.live.m4a`)
    expect(await isSignedFor('GET', url)).toBe(true)
  })

  it.each([
    ['Ænima.flac', '_nima.m4a', '%C3%86nima.m4a'],
    ['She said "hi" 100%.flac', 'She said _hi_ 100_.m4a', 'She%20said%20%22hi%22%20100%25.m4a'],
    ["Don't (live)*+~.flac", "Don't (live)*+~.m4a", 'Don%27t%20%28live%29%2A%2B~.m4a'],
    ['青い🎷', '____.m4a', '%E9%9D%92%E3%81%84%F0%9F%8E%B7.m4a'],
  ])('of %s has a name that every browser can read, and a valid signature', async (file_name, plain, encoded) => {
    await db.update(tracks).set({ file_name })
    const { url } = await download('aac-160')
    expect(signedParts(url).disposition).toBe(`attachment; filename="${plain}"; filename*=UTF-8''${encoded}`)
    expect(await isSignedFor('GET', url)).toBe(true)
  })

  it('of the variant `original` keeps the name of the upload', async () => {
    const { url } = await download('original', { is_downloadable: true, variants: ['original'] })
    expect(signedParts(url).disposition).toContain('filename="So What.live.flac"')
  })

  it('returns 403 when the session does not allow it', async () => {
    const { play_session_id } = await session()
    const path = `/v1/play/${play_session_id}/${track_id}/aac-160/download`
    await expectError(403, 'download_not_allowed', 'GET', path)
  })

  it('returns 404 for an unknown variant, and for a variant that the session or the track lacks', async () => {
    const { play_session_id } = await session({ is_downloadable: true })
    for (const index of ['original', 'lossless', 'wav', 'x'.repeat(65)]) {
      await expectError(404, 'not_found', 'GET', `/v1/play/${play_session_id}/${track_id}/${index}/download`)
    }
  })
})

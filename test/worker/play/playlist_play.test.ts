import { describe, expect, it } from 'vitest'

import { aPlaylist, aPlaySession, call, ok, query } from '../support/api.ts'
import { aTenant } from '../support/fixtures.ts'
import { aProcessedTrack } from '../support/processed_track.ts'
import { serveTranscoder } from '../support/transcoder.ts'

interface Listed {
  id: string
  order: number
}

/** Creates a playlist of ready tracks; returns functions to create and play its sessions. */
async function aSession(
  settings: { organization?: object; collection?: object; track?: object; playlist?: object } = {},
) {
  serveTranscoder()
  const { key, collection_id, organization_id } = await aTenant()
  const put = (path: string, body: object | undefined) => body && ok('PUT', path, { key, body })
  await put(`/v1/organization/${organization_id}`, settings.organization)
  await put(`/v1/collection/${collection_id}`, settings.collection)
  const a = await aProcessedTrack(key, collection_id, settings.track)
  const b = await aProcessedTrack(key, collection_id)
  const playlist_id = await aPlaylist(key, [], settings.playlist)
  const replace = (track_ids: string[]) => ok('PUT', `/v1/playlist/${playlist_id}/track`, { key, body: { track_ids } })
  const create = () => aPlaySession(key, 'playlist', playlist_id)
  const play = async (id: string) => call('GET', `/v1/play/${(await create()).play_session_id}/${id}`)
  return { key, collection_id, a, b, playlist_id, replace, create, play }
}

describe('a play session of a playlist', () => {
  it('lists its tracks in the order of the playlist, numbered by position', async () => {
    const { key, a, b, replace, create } = await aSession()
    await replace([b, a, b])
    const created = await create()
    const of = (tracks: Listed[]) => tracks.map(({ id, order }) => [id, order])
    expect(of(created.tracks)).toEqual([
      [b, 1],
      [a, 2],
      [b, 3],
    ])
    expect(created.first_track!.track_id).toBe(b)
    await replace([a])
    const read = await ok('GET', `/v1/play_session/${created.play_session_id}`, { key })
    expect(of(read.tracks)).toEqual([[a, 1]])
  })

  it('plays only the tracks of the playlist', async () => {
    const { a, b, replace, play, create } = await aSession()
    await replace([a])
    expect((await play(a)).body).toMatchObject({ ok: true, track_id: a })
    expect((await play(b)).status).toBe(404)
    await replace([])
    const empty = await create()
    expect([empty.tracks, empty.first_track]).toEqual([[], null])
  })

  it("shows the cover of the playlist and not that of a collection's first track", async () => {
    const { a, b, replace, play } = await aSession()
    await replace([b])
    await query('update tracks set cover_path = ? where id = ?', 'media/first', a)
    const coverOf = async () => (await play(b)).body.cover_image.regular.url
    expect(await coverOf()).toContain('/media/first/')
    await query('update playlists set cover_path = ?', 'media/of-playlist')
    expect(await coverOf()).toContain('/media/of-playlist/')
  })

  it('inherits the appearance of the playlist when the track and its collection set none', async () => {
    const playlist = { player_color: '#111111', player_subtitle: 'of the playlist', theme: ['#ff0000'] }
    const organization = { player_color: '#eeeeee', player_subtitle: 'of the organization', theme: ['#0000ff'] }
    const { a, replace, play, create } = await aSession({ playlist, organization })
    await replace([a])
    const { track } = (await play(a)).body
    expect(track).toMatchObject({ player_color: '#111111', player_subtitle: 'of the playlist', is_dark: true })
    expect(track.image_colors.map(({ hex }) => hex)).toEqual(['#FF0000'])
    const { tracks, first_track } = await create()
    expect(tracks[0]).toMatchObject({ player_color: '#111111', player_subtitle: 'of the playlist' })
    expect(first_track!.track).toMatchObject({ player_color: '#111111' })
  })

  it('uses the appearance of the track first, then of the collection, then of the playlist', async () => {
    const { a, b, replace, play } = await aSession({
      playlist: { player_color: '#111111', player_subtitle: 'playlist', theme: ['#ff0000'] },
      collection: { player_color: '#222222', player_subtitle: 'collection', theme: ['#00ff00'] },
      track: { player_color: '#ffffff', player_subtitle: 'track' },
    })
    await replace([a, b])
    const [first, second] = [(await play(a)).body.track, (await play(b)).body.track]
    expect(first).toMatchObject({ player_color: '#ffffff', player_subtitle: 'track', is_dark: false })
    expect(second).toMatchObject({ player_color: '#222222', player_subtitle: 'collection' })
    expect(second.image_colors[0]!.hex).toBe('#00FF00')
  })

  it('uses the theme of the organization when it may not be overridden', async () => {
    const { a, replace, play } = await aSession({
      organization: { is_theme_overridable: false, player_color: '#333333', theme: ['#0000ff'] },
      playlist: { player_color: '#111111', theme: ['#ff0000'] },
      track: { player_color: '#ffffff' },
    })
    await replace([a])
    const { track } = (await play(a)).body
    expect([track.player_color, track.image_colors[0]!.hex]).toEqual(['#333333', '#0000FF'])
  })

  it('uses the cover of the playlist when the track and its collection have none', async () => {
    const { key, a, collection_id, playlist_id, replace, play } = await aSession()
    await replace([a])
    const cover = async (path: string, name: string) => {
      const { pathname } = new URL((await ok('POST', `${path}/cover`, { key }))[`${name}_cover_upload`].upload_url)
      await ok('POST', pathname, { body: 'GIF89a', headers: { 'content-type': 'image/gif' } })
      return decodeURIComponent((await play(a)).body.cover_image.regular.url)
    }
    expect((await play(a)).body.cover_image.icon.url).toMatch(/\/cover\/SW-\d+-7{32}\/icon\.png$/)
    expect(await cover(`/v1/playlist/${playlist_id}`, 'playlist')).toContain(`/${playlist_id}/`)
    expect(await cover(`/v1/collection/${collection_id}`, 'collection')).toContain(`/${collection_id}/`)
  })
})

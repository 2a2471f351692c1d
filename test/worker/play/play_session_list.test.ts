import { beforeEach, describe, expect, it } from 'vitest'

import {
  aCollection,
  anApiKey,
  anOrganization,
  aPlaylist,
  aPlaySession,
  ok,
  query,
  expectError,
} from '../support/api.ts'
import { aReadyTrack, aTenant, type Tenant, stopTime } from '../support/fixtures.ts'
import { countCallRows } from '../support/row_counter.ts'
import { seed } from '../support/seed.ts'

/** How a play session is created and listed: round trips, checks, and the contents of long lists. */

let tenant: Tenant
beforeEach(async () => {
  tenant = await aTenant()
})
const aBoundKey = async (field: string, id: string) => (await anApiKey(tenant.key, { [field]: id })).secret
const sessions = async () => (await query('select id from play_sessions')).length

const LISTED = { title: 'P', player_subtitle: 'list' }
const HOSTILE = '\u0001"\\\u{1f3b5}</script>é'
const fill = (text: string) => text.repeat(255).slice(0, 254)

interface Seeded {
  id: string
  index: string
  duration: number
  order: number
  status: string
  file_name: string
  player_title: string | null
  player_subtitle: string | null
  player_color: string | null
}

/** Creates 1,300 tracks, with and without title, subtitle and color. Some have no files, and some failed. Their texts have the maximum length. */
async function manyTracks(): Promise<Seeded[]> {
  await seed('tracks', 1, 1300, tenant)
  await query(
    `update tracks set duration = "order" / 7.0, file_name = ?1 || "order" || '.a.mp3',
      player_title = iif("order" % 2, null, iif("order" % 4, ?1, '')),
      player_subtitle = iif("order" % 3, null, iif("order" % 6, ?1, '')),
      player_color = iif("order" % 5, null, printf('#%06X', "order")),
      status = iif("order" % 11 = 0, 'failed', iif("order" % 13 = 0, 'initializing', status))`,
    fill(HOSTILE),
  )
  await query(
    `update tracks set files = json_object('base', '00job', 'list', json_array(json_array('aac-160.m4a', 5, 160, 1))) where "order" % 22 = 0 or "order" > 105`,
  )
  return query<Seeded>('select * from tracks order by "order"')
}

/** The entry that a listener gets for a track's row (docs/architecture.md#inheritance). */
const listedTrack = (
  { id, index, duration, order, ...texts }: Seeded,
  inherited: { subtitle: string | null; color: string },
) => ({
  id,
  index,
  duration: expect.closeTo(duration, 9),
  order,
  player_title: texts.player_title ?? texts.file_name.replace(/\.mp3$/, ''),
  player_subtitle: texts.player_subtitle ?? inherited.subtitle,
  player_color: texts.player_color ?? inherited.color,
})
const listed = (rows: Seeded[]) =>
  rows.filter(({ status, order }) => !['failed', 'initializing'].includes(status) || order % 22 === 0 || order > 105)

describe('a list of 1,000 tracks', () => {
  it('of a collection contains exactly the fields of each track, in order, and the first playable track', async () => {
    const rows = await manyTracks()
    const appearance = { player_subtitle: 'of the collection', player_color: '#abcdef' }
    await ok('PUT', `/v1/collection/${tenant.collection_id}`, { key: tenant.key, body: appearance })
    const view = await aPlaySession(tenant.key, 'collection', tenant.collection_id)
    const expected = listed(rows).slice(0, 1000)
    const inherited = { subtitle: appearance.player_subtitle, color: appearance.player_color }
    expect(view.tracks).toEqual(expected.map((row) => listedTrack(row, inherited)))
    // The tracks before the first playable track have no file or are still waiting for it.
    expect(expected[0]!.order).toBeLessThan(106)
    expect(view.first_track).toMatchObject({
      track_id: rows[5]!.id,
      variants: [{ path: expect.stringContaining(`/${rows[5]!.index}/00job/aac-160.m4a`) }],
    })
    const again = await ok('GET', `/v1/play/${view.play_session_id}`)
    expect(again.tracks).toEqual(view.tracks)
    expect(again.first_track!.track).toEqual(view.first_track!.track)
    // A value of the organization that may not be overridden replaces those of the collection and the tracks. The subtitle may be overridden, so the
    // organization's subtitle is not used.
    const organization = { is_theme_overridable: false, player_color: '#123456' }
    await ok('PUT', `/v1/organization/${tenant.organization_id}`, { key: tenant.key, body: organization })
    const { tracks } = await ok('GET', `/v1/play/${view.play_session_id}`)
    const forced = expected.map((row) => ({ ...listedTrack(row, inherited), player_color: '#123456' }))
    expect(tracks).toEqual(forced)
  })

  it('of a playlist contains the positions and the appearance of the playlist', async () => {
    const rows = await manyTracks()
    const entries = rows.slice(100, 1100).map((_, at, all) => all[(at * 7) % 1000]!)
    const view = await aPlaySession(
      tenant.key,
      'playlist',
      await aPlaylist(
        tenant.key,
        entries.map(({ id }) => id),
        LISTED,
      ),
    )
    const inOrder = entries.map((row, at) => ({ ...row, place: at + 1 }))
    const expected = inOrder.filter((row) => listed([row]).length > 0)
    const inherited = { subtitle: 'list', color: '#2B3440' }
    expect(view.tracks).toEqual(expected.map((row) => ({ ...listedTrack(row, inherited), order: row.place })))
    expect(view.first_track!.track_id).toBe(expected[0]!.id)
  })
})

describe('creating a session', () => {
  it.each(['track', 'collection', 'playlist'] as const)(
    'for a %s takes one round trip, as does reading it',
    async (scope) => {
      const track_id = await aReadyTrack(tenant.key, tenant.collection_id)
      const ids = {
        track: track_id,
        collection: tenant.collection_id,
        playlist: await aPlaylist(tenant.key, [track_id]),
      }
      stopTime()
      await aPlaySession(tenant.key, scope, ids[scope])
      const body = { [`${scope}_id`]: ids[scope] }
      const made = await countCallRows('POST', `/v1/play_session/${scope}`, { key: tenant.key, body })
      expect(made).toMatchObject({ trips: 1, written: 1, body: { first_track: { track_id } } })
      const read = await countCallRows('GET', `/v1/play/${made.body.play_session_id}`)
      expect(read).toMatchObject({
        trips: 1,
        written: 0,
        body: { tracks: [{ id: track_id }], first_track: { track_id } },
      })
    },
  )

  it('reads two rows for each track of a long list, and a few additional rows', async () => {
    await manyTracks()
    await aPlaySession(tenant.key, 'collection', tenant.collection_id)
    const { play_session_id } = await aPlaySession(tenant.key, 'collection', tenant.collection_id)
    const { read } = await countCallRows('GET', `/v1/play/${play_session_id}`)
    // Some of the 1,300 tracks are read and skipped, and the last ones are not read because the list is full.
    expect(read).toBeLessThan(2 * 1150 + 60)
  })

  it('writes no row for a resource of another organization or in a deleted collection', async () => {
    const track_id = await aReadyTrack(tenant.key, tenant.collection_id)
    const ids = { track: track_id, collection: tenant.collection_id, playlist: await aPlaylist(tenant.key, [track_id]) }
    const other = await anOrganization()
    for (const [scope, id] of Object.entries(ids)) {
      const path = `/v1/play_session/${scope}`
      await expectError(404, 'not_found', 'POST', path, { key: other.key, body: { [`${scope}_id`]: id } })
    }
    await query('delete from collections')
    for (const scope of ['track', 'collection'] as const) {
      const path = `/v1/play_session/${scope}`
      await expectError(404, 'not_found', 'POST', path, { key: tenant.key, body: { [`${scope}_id`]: ids[scope] } })
    }
    expect(await sessions()).toBe(0)
  })

  it("writes no row for a resource outside of the key's binding", async () => {
    const [inside, outside] = [
      await aReadyTrack(tenant.key, tenant.collection_id),
      await aReadyTrack(tenant.key, (await aCollection(tenant.key, { title: 'B' })).id),
    ]
    const playlist = await aPlaylist(tenant.key, [inside])
    const keys = [
      await aBoundKey('collection_id', tenant.collection_id),
      await aBoundKey('playlist_id', playlist),
      await aBoundKey('track_id', inside),
    ]
    for (const [at, key] of keys.entries()) {
      expect((await aPlaySession(key, 'track', inside)).first_track!.track_id).toBe(inside)
      expect(await sessions()).toBe(at + 1)
      const body = { track_id: outside }
      await expectError(404, 'not_found', 'POST', '/v1/play_session/track', { key, body })
    }
    const lists = [{ collection_id: tenant.collection_id }, { playlist_id: playlist }]
    for (const [at, body] of lists.entries()) {
      const path = `/v1/play_session/${at === 0 ? 'collection' : 'playlist'}`
      await expectError(404, 'not_found', 'POST', path, { key: keys[2], body })
      await expectError(404, 'not_found', 'POST', path, { key: keys[1 - at], body })
    }
    expect(await sessions()).toBe(keys.length)
  })
})

it('a session contains the title and subtitle of its list, even before any track can play', async () => {
  const body = { player_subtitle: 'The shop' }
  await ok('PUT', `/v1/organization/${tenant.organization_id}`, { key: tenant.key, body })
  const { list, first_track, play_session_id } = await aPlaySession(tenant.key, 'collection', tenant.collection_id)
  expect({ list, first_track }).toEqual({
    list: { scope: 'collection', title: 'Kind of Blue', subtitle: 'The shop' },
    first_track: null,
  })
  expect((await ok('GET', `/v1/play/${play_session_id}`)).list).toEqual(list)
  const ofPlaylist = await aPlaySession(tenant.key, 'playlist', await aPlaylist(tenant.key, [], LISTED))
  expect(ofPlaylist.list).toEqual({ scope: 'playlist', title: 'P', subtitle: 'list' })
  const track_id = await aReadyTrack(tenant.key, tenant.collection_id)
  expect((await aPlaySession(tenant.key, 'track', track_id)).list).toBeNull()
})

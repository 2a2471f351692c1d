import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'

import { fillTitles } from '../../../src/adapters/db/search_titles.ts'
import { aCollection, aPlaylist, aWaitingTrack, itemsOf, nameOf, ok, query } from '../support/api.ts'
import { aTenant, type Tenant } from '../support/fixtures.ts'
import { aProcessedTrack } from '../support/processed_track.ts'
import { seed } from '../support/seed.ts'
import { completeResult, serveTranscoder } from '../support/transcoder.ts'

/** The names that a search finds, its count, and its suggestion. */
async function search(key: string, q: string, path = '/v1/track', more = '') {
  const body = await ok('GET', `${path}?q=${encodeURIComponent(q)}${more}`, { key })
  return { names: itemsOf(body).map(nameOf), suggestion: body.suggestion as string | null }
}
const find = async (key: string, q: string, path?: string, more?: string) => (await search(key, q, path, more)).names
const suggestion = async (key: string, q: string, path?: string) => (await search(key, q, path)).suggestion

const track = ({ key, collection_id }: Tenant, player_title: string, body: object = {}) =>
  aWaitingTrack(key, collection_id, { player_title, file_name: 'x.mp3', ...body })

describe('the middle of a word in a title', () => {
  it('is found in tracks, collections and playlists, in the order and with the filters of the list', async () => {
    const tenant = await aTenant()
    const { key, collection_id } = tenant
    await track(tenant, 'Harbour Lights')
    const { id: elsewhere } = await aCollection(key, { title: 'Old harbours' })
    await aWaitingTrack(key, elsewhere, { player_title: 'Arbour', file_name: 'x.mp3' })
    await aPlaylist(key, [], { title: 'Unharboured' })
    expect(await find(key, 'arbour')).toEqual(['Arbour', 'Harbour Lights'])
    expect(await find(key, 'arbour', '/v1/track', '&sort=-title')).toEqual(['Harbour Lights', 'Arbour'])
    expect(await find(key, 'arbour', '/v1/track', '&limit=1&offset=1')).toEqual(['Harbour Lights'])
    expect(await find(key, 'ights arb')).toEqual(['Harbour Lights'])
    expect(await find(key, 'arbour', '/v1/track', '&status=ready')).toEqual([])
    expect(await find(key, 'arbour', `/v1/collection/${collection_id}/track`)).toEqual(['Harbour Lights'])
    expect(await find(key, 'ARBÖUR', '/v1/collection')).toEqual(['Old harbours'])
    expect(await find(key, 'harbour', '/v1/playlist')).toEqual(['Unharboured'])
    expect(await find(key, 'rb')).toEqual([])
  })

  it('is found by the current title: the one that was set, then the tag, then the file name', async () => {
    const { key, collection_id } = await aTenant()
    const processed = async (title: string | null, file_name: string) => {
      serveTranscoder((job) => completeResult(job, { tags: { ...(title !== null && { title }), artist: 'Nobody' } }))
      return aProcessedTrack(key, collection_id, { file_name })
    }
    const id = await processed('Мой трамвай', 'Straßenbahn.mp3')
    await processed(null, 'Straßenmusik.mp3')
    expect(await find(key, 'рамваи')).toEqual(['Straßenbahn.mp3'])
    expect(await find(key, 'rassenmus')).toEqual(['Straßenmusik.mp3'])
    expect([await find(key, 'obody'), await find(key, 'rassenbah')]).toEqual([[], []])
    await ok('PUT', `/v1/track/${id}`, { key, body: { title: 'Θάλασσα' } })
    expect([await find(key, 'αλασσ'), await find(key, 'рамваи')]).toEqual([['Θάλασσα'], []])
    await ok('DELETE', `/v1/track/${id}?trash=true`, { key })
    expect(await find(key, 'αλασσ')).toEqual([])
    await ok('POST', `/v1/trash/${id}/restore`, { key })
    await ok('PUT', `/v1/track/${id}`, { key, body: { title: null } })
    expect([await find(key, 'αλασσ'), await find(key, 'рамваи')]).toEqual([[], ['Straßenbahn.mp3']])
    await ok('DELETE', `/v1/track/${id}`, { key })
    expect(await find(key, 'рамваи')).toEqual([])
  })

  it('is not searched if 20 rows have a word that starts with the query', async () => {
    const tenant = await aTenant()
    await track(tenant, 'Harbour')
    await seed('tracks', 1, 19, tenant)
    await query(`update tracks set player_title = 'Arbour ' || "order" where player_title like 'Seeded%'`)
    const both = await find(tenant.key, 'arbour')
    expect([both.length, both.includes('Harbour')]).toEqual([20, true])
    await track(tenant, 'Arbour')
    const beginning = await find(tenant.key, 'arbour')
    expect([beginning.length, beginning.includes('Harbour')]).toEqual([20, false])
  })

  it('takes at most 100 bytes per track in a database with 3,000 tracks', async () => {
    const tenant = await aTenant()
    const syllables = [
      'ba',
      'lo',
      'mer',
      'ti',
      'van',
      'so',
      'ri',
      'den',
      'ka',
      'lum',
      'pe',
      'nor',
      'shi',
      'wel',
      'zu',
      'fa',
    ]
    const word = (seeds: number) =>
      `${syllables[seeds % 16]}${syllables[(seeds >> 4) % 16]}${syllables[(seeds >> 8) % 11]}`
    const titles = Array.from({ length: 3000 }, (_, at) =>
      Array.from({ length: 1 + (at % 4) }, (_, part) => word((at * 7919 + part * 104_729) % 1_000_003)).join(' '),
    )
    const length = titles.join('').length / titles.length
    expect(length).toBeGreaterThan(15)
    await seed('tracks', 1, 3000, tenant, {
      change: () =>
        query(
          'update tracks set player_title = (select value from json_each(?) where key = "order" - 1)',
          JSON.stringify(titles),
        ),
    })
    const size = async () => (await env.DB.prepare('select 1').run()).meta.size_after
    const before = await size()
    for (let from = 0; from < 3000; from += 1000) await query(fillTitles('tracks'), from, from + 1000)
    const bytes = ((await size()) - before) / 3000
    expect(await find(tenant.key, titles[1321]!.slice(1))).toContain(titles[1321])
    expect(bytes).toBeGreaterThan(20)
    expect(bytes).toBeLessThan(100)
  })
})

describe('a query that finds nothing', () => {
  it('is corrected by the most frequent similar word', async () => {
    const tenant = await aTenant()
    const { key, collection_id } = tenant
    for (const title of ['Velvet Room', 'Velvet Sky', 'Velcet', 'Söder om natten', 'Ёлка']) await track(tenant, title)
    await track(tenant, 'Nights', { player_subtitle: 'Nadja Vale' })
    const cases: Record<string, string | null> = {
      velvt: 'velvet',
      Vevlet: 'velvet',
      velvvet: 'velvet',
      velwet: 'velvet',
      helvet: 'velvet',
      sodr: 'söder',
      ёлкк: 'ёлка',
      'velvt rooom': 'velvet room',
      '"Sky", velvt!': '"Sky", velvet!',
      '🎧 velvt': null,
      'nadia vale': 'nadja vale',
      'nights nadya': 'nights nadja',
      vlt: null,
      velvetroomsky: null,
      'velvt nights': null,
      'room sky': null,
      'зимняя ночь': null,
      velv: null,
    }
    for (const [q, expected] of Object.entries(cases)) expect([q, await suggestion(key, q)]).toEqual([q, expected])
    expect(await suggestion(key, 'velvt', `/v1/collection/${collection_id}/track`)).toBe('velvet')
    expect(await suggestion(key, 'kidn', '/v1/collection')).toBe('kind')
    expect(await suggestion(key, 'velvt', '/v1/playlist')).toBeNull()
    expect(await ok('GET', '/v1/track', { key })).not.toHaveProperty('suggestion')
  })

  it('is never corrected with, and finds nothing in, a title of another organization or of a trashed collection', async () => {
    const [tenant, other] = [await aTenant(), await aTenant()]
    for (const title of ['Velvet', 'Velvet']) await track(other, title)
    const { id: hidden } = await aCollection(tenant.key, { title: 'Hidden' })
    for (const player_title of ['Bluebird', 'Bluebird'])
      await aWaitingTrack(tenant.key, hidden, { player_title, file_name: 'x.mp3' })
    // The scope of the index is a few digits of the organization's id, so two organizations can share it.
    await query(`insert or replace into search_titles (rowid, scope, title)
      select 4 * rowid, (select char(57344 + unicode(substr(id, -5, 1)), 57344 + unicode(substr(id, -4, 1)) * 55 + unicode(substr(id, -3, 1)),
        57344 + unicode(substr(id, -2, 1)) * 55 + unicode(substr(id, -1, 1))) from organizations where id = '${tenant.organization_id}'), player_title
      from tracks where player_title = 'Velvet'`)
    expect(await search(tenant.key, 'elvet')).toEqual({ names: [], suggestion: null })
    expect(await suggestion(tenant.key, 'xelvet')).toBeNull()
    expect(await suggestion(tenant.key, 'bluebrid')).toBe('bluebird')
    await ok('DELETE', `/v1/collection/${hidden}?trash=true`, { key: tenant.key })
    expect(await search(tenant.key, 'luebird')).toEqual({ names: [], suggestion: null })
    expect(await suggestion(tenant.key, 'bluebrid')).toBeNull()
    // A word that only hidden titles contain is not preferred to one of a visible title.
    for (const title of ['Zelvet', 'Bluebrim']) await track(tenant, title)
    expect(await suggestion(tenant.key, 'xelvet')).toBe('zelvet')
    expect(await suggestion(tenant.key, 'bluebrid')).toBe('bluebrim')
  })
})

import { afterEach, describe, expect, it, vi } from 'vitest'

import { MAX_COUNTED } from '../../../src/resources/list/filtered_list.ts'
import { MAX_SORTED, MAX_SCANNED } from '../../../src/resources/list/row_source.ts'
import { aWaitingTrack, CREATOR, itemsOf, nameOf, query } from '../support/api.ts'
import { aTenant, runSweep, type Tenant, stopTime } from '../support/fixtures.ts'
import { countCallRows } from '../support/row_counter.ts'
import { seed, seedSearched } from '../support/seed.ts'
import { aShare } from '../support/share_visitor.ts'
import { createStorage } from '../support/storage.ts'

// Dropping the tables is faster than deleting thousands of rows.
afterEach(createStorage)

/** Number of rows in each table: more than a list sorts, and more than twice the matches that a search sorts. */
const MANY = 30_000
/** Rows that a page of 50 items reads: the items with their related rows, and a count of up to a thousand. */
const PAGE = MAX_COUNTED + 160
/** Maximum for a list that is sorted in memory: each row is read twice, once in the index and once in the table. */
const SORTED = 2 * MAX_SORTED + PAGE
/** Maximum for a search that sorts its newest matches: each match is read four times. */
const MATCHES = 5000
/** Maximum number of requests to D1 for a list. */
const TRIPS = 3

const INCLUDED = 'include=levels,loudness,artwork,collection,state,variants,ids'

/** Requests, each with the maximum number of rows that it may read, regardless of the length of the list. */
const requestLimits = ({ collection_id }: Tenant): [string, number][] => {
  const path = `/v1/collection/${collection_id}/track`
  const lists = ['/v1/collection', '/v1/playlist'].flatMap((path): [string, number][] => [
    [`${path}?sort=title`, PAGE],
    [`${path}?sort=-updated_at`, PAGE],
    [`${path}?sort=created_at&offset=500`, PAGE + 500],
    [`${path}?q=seeded`, PAGE],
    [`${path}?q=seed&creator_id=${CREATOR}`, PAGE],
    [`${path}?creator_id=${CREATOR}&organization_index=a`, PAGE],
    [`${path}?creator_id=${CREATOR}&organization_index=a&sort=title`, 12 * PAGE],
    [`${path}?q=s&sort=-title`, MATCHES],
  ])
  return [
    ...['title', '-title', 'created_at', '-updated_at', '-duration'].map((sort): [string, number] => [
      `/v1/track?sort=${sort}`,
      PAGE,
    ]),
    ...['-order', 'title', 'created_at', '-updated_at', 'duration'].map((sort): [string, number] => [
      `${path}?sort=${sort}`,
      SORTED,
    ]),
    ['/v1/track?q=seeded', PAGE],
    ['/v1/track?q=s', PAGE],
    // A skipped match costs three rows: the match, its track, and the check that the collection exists.
    ['/v1/track?q=seeded+0&offset=400', PAGE + 3 * 400],
    ['/v1/track?q=nothing', PAGE],
    ['/v1/track?q=eede', PAGE],
    // A typo reads the newest 500 rows of each half of the word, each with its collection.
    ['/v1/track?q=sededed', PAGE + 4 * 1000],
    ['/v1/track?q=seedde', PAGE + 4 * 1000],
    [`/v1/track?creator_id=${CREATOR}&organization_index=b`, PAGE],
    // The creator has too many tracks to sort: 10,001 are counted, and those of the page are read in title order.
    [`/v1/track?creator_id=${CREATOR}&sort=title`, 10_000 + 5 * PAGE],
    ['/v1/track?status=failed', PAGE],
    ['/v1/track?status=ready', 2 * PAGE + 2000],
    ['/v1/track?q=s&sort=title', MATCHES],
    ['/v1/track?q=s&status=failed', MATCHES],
    [`${path}?q=seeded`, MATCHES],
    [`${path}?q=seeded&sort=-created_at`, PAGE],
    [`${path}?status=ready&creator_id=${CREATOR}`, SORTED],
    [`${path}?status=ready&sort=title`, SORTED],
    // No track matches both filters: each scanned row is read in the index and in the table, and once more to check whether the scan is complete.
    [`${path}?status=processing&creator_id=${CREATOR}`, 3 * MAX_SCANNED + PAGE],
    [`${path}?sort=title&include=levels,loudness,artwork,collection`, SORTED + 60],
    ['/v1/track?q=zzzzz', PAGE],
    ['/v1/track?q=s&sort=-title&limit=200', MATCHES],
    [`/v1/track?q=s&sort=-duration&${INCLUDED}`, MATCHES],
    [`/v1/track?q=s&status=ready&limit=200&${INCLUDED}`, MATCHES],
    [`/v1/track?status=failed&sort=title&${INCLUDED}`, PAGE],
    [`/v1/track?creator_id=${CREATOR}&organization_index=a&sort=title&limit=10&${INCLUDED}`, 5 * MAX_SORTED + PAGE],
    [`${path}?q=s&limit=200&${INCLUDED}`, MATCHES],
    [`${path}?q=s&status=ready&sort=created_at&limit=200`, MATCHES],
    [`${path}?offset=900&limit=10&${INCLUDED}`, PAGE],
    ['/v1/playlist?q=s&sort=title&include=artwork,counts', MATCHES],
    ['/v1/share?include=resource,sessions,visits', PAGE],
    ['/v1/event?include=titles,collection,artwork', PAGE],
    ['/v1/api_key?include=resource', PAGE],
    ['/v1/trash', PAGE],
    ...lists,
  ]
}

/** Requests whose rows may not grow from 15,000 tracks to 30,000. All others read more only because a limit is far above 15,000. */
const constantRequests = ({ collection_id }: Tenant) => [
  ...['', '?limit=200', '?sort=title', '?sort=-duration', '?status=failed'].map((query) => `/v1/track${query}`),
  ...['q=seeded', 'q=s&sort=title', 'q=s&sort=-duration', 'q=zzzz'].map((query) => `/v1/track?${query}`),
  ...['', '?q=s', `?limit=200&${INCLUDED}`].map((query) => `/v1/collection/${collection_id}/track${query}`),
  '/v1/collection',
  '/v1/collection?include=artwork,counts&limit=12',
  '/v1/playlist',
  '/v1/share?include=resource',
]

async function readRows(tenant: Tenant, path: string): Promise<number> {
  const { read, written, trips } = await countCallRows('GET', path, { key: tenant.key })
  expect(written, path).toBe(0)
  expect(trips, `trips of ${path}`).toBeLessThanOrEqual(TRIPS)
  return read
}

async function measure(tenant: Tenant): Promise<void> {
  await countCallRows('GET', '/v1/limits', { key: tenant.key })
  for (const [path, limit] of requestLimits(tenant))
    expect(await readRows(tenant, path), `rows that ${path} reads`).toBeLessThanOrEqual(limit)
}

async function constantRows(tenant: Tenant): Promise<Record<string, number>> {
  const rows: Record<string, number> = {}
  for (const path of constantRequests(tenant)) rows[path] = await readRows(tenant, path)
  return rows
}

const titles = async (tenant: Tenant, path: string) => {
  const { body } = await countCallRows('GET', path, { key: tenant.key })
  return { page: itemsOf(body).map(nameOf), count: body.count, exact: body.is_count_exact }
}
const titlesByQuery = async (text: string) => (await query<{ title: string }>(text)).map(({ title }) => title)

describe('searched, sorted and filtered lists', () => {
  it('stay within their limits of read rows with 30,000 rows, and return the same items as plain SQL', async () => {
    const tenant = await aTenant()
    stopTime()
    const tables = ['tracks', 'collections', 'playlists'] as const
    for (const table of tables) await seedSearched(table, 1, 1000, tenant)
    await aShare(tenant.key, tenant.collection_id)
    await measure(tenant)
    for (const table of tables) await seedSearched(table, 1001, MANY / 2, tenant)
    const half = await constantRows(tenant)
    for (const table of tables) await seedSearched(table, MANY / 2 + 1, MANY, tenant)
    await measure(tenant)
    expect(await constantRows(tenant)).toEqual(half)
    const trackPath = `/v1/collection/${tenant.collection_id}/track`
    const all = 'select player_title as title from tracks'
    for (const path of ['/v1/track', trackPath]) {
      const count = path === trackPath ? MANY : MAX_COUNTED
      const exact = path === trackPath ? undefined : false
      const byTitle = await titlesByQuery(`${all} order by 1 desc limit 50 offset 7000`)
      expect(await titles(tenant, `${path}?sort=-title&offset=7000`)).toEqual({ page: byTitle, count, exact })
      const byDuration = await titlesByQuery(`${all} order by duration, rowid limit 50 offset 300`)
      expect((await titles(tenant, `${path}?sort=duration&offset=300`)).page).toEqual(byDuration)
      const filtered = await titlesByQuery(
        `${all} where status = 'ready' and organization_index = 'a' order by 1 limit 50`,
      )
      expect((await titles(tenant, `${path}?status=ready&organization_index=a&sort=title`)).page).toEqual(filtered)
    }
    const found = await titlesByQuery(
      `${all} where player_title like 'Seeded 0%' order by rowid desc limit 50 offset 950`,
    )
    expect(await titles(tenant, '/v1/track?q=SEEDED+0&offset=950')).toEqual({
      page: found,
      count: MAX_COUNTED,
      exact: false,
    })
    const matching = await titlesByQuery(`${all} where player_title like '%0012%' order by rowid desc`)
    expect(await titles(tenant, '/v1/track?q=0012&limit=200')).toEqual({ page: matching, count: matching.length })
    // In a smaller collection, the last titles are beyond the range that is scanned.
    const { collection_id } = (
      await countCallRows('POST', '/v1/collection', { key: tenant.key, body: { title: 'Small' } })
    ).body
    await seed('tracks', MANY + 1, MANY + 5100, { ...tenant, collection_id })
    const smallPath = `/v1/collection/${collection_id}/track`
    const last = await titlesByQuery(
      `${all} where collection_id = '${collection_id}' order by 1 desc limit 50 offset 5050`,
    )
    expect(await titles(tenant, `${smallPath}?sort=-title&offset=5050`)).toEqual({
      page: last,
      count: 5100,
      exact: undefined,
    })
    expect((await countCallRows('GET', `${smallPath}?sort=-title&offset=5050`, { key: tenant.key })).read).toBeLessThan(
      3 * MAX_SCANNED,
    )
  })

  it('cost few written rows when a track is created or updated', async () => {
    const tenant = await aTenant()
    const { key, collection_id } = tenant
    await aWaitingTrack(key, collection_id)
    const body = { collection_id, file_name: 'a.mp3' }
    const created = await countCallRows('POST', '/v1/track', { key, body })
    const path = `/v1/track/${created.body.track_id}`
    const titled = await countCallRows('PUT', path, { key, body: { title: 'New' } })
    const annotated = await countCallRows('PUT', path, { key, body: { metadata: { a: 1 } } })
    // A created track writes six rows for the track and its entries in the collection's lists, four for the counts, one each for the list by title,
    // the two lists by time and the search, one for the event, and one for the quotas. A title is written to both search tables.
    expect({ created: created.written, titled: titled.written, noted: annotated.written }).toEqual({
      created: 16,
      titled: 6,
      noted: 3,
    })
  })
})

it('the search index is filled in the background with existing rows, even while they change', async () => {
  const tenant = await aTenant()
  await seed('tracks', 1, 5000, tenant)
  for (const name of ['search', 'search_titles']) await query(`delete from ${name}`)
  await query(`insert into search_fills values ('tracks', (select max(rowid) from tracks))`)
  expect((await titles(tenant, '/v1/track?q=seeded')).count).toBe(0)
  const filtered = await titles(tenant, `/v1/track?creator_id=${CREATOR}`)
  expect(filtered.page).toEqual(
    await titlesByQuery(
      `select player_title as title from tracks where creator_id = '${CREATOR}' order by created_at desc, rowid desc limit 50`,
    ),
  )
  await query(`update tracks set player_title = 'Changed' where "order" = 101`)
  await query(`delete from tracks where "order" = 102`)
  await query(
    `update tracks set player_title = 'Αθήνα', folded = '{"player_title":"αθηνα"}' where "order" between 201 and 300`,
  )
  await runSweep()
  expect((await titles(tenant, '/v1/track?q=ΑΘΗΝΑ&limit=200')).page).toHaveLength(100)
  expect((await titles(tenant, '/v1/track?q=changed')).page).toEqual(['Changed'])
  expect((await titles(tenant, '/v1/track?q=hange')).page).toEqual(['Changed'])
  expect((await titles(tenant, '/v1/track?q=eede&offset=4950')).page).toHaveLength(0)
  expect((await titles(tenant, '/v1/track?q=seeded&offset=4950')).page).toHaveLength(49)
  expect(await query('select * from search_fills')).toEqual([])
})

it('a failure to fill the search index does not block the rest of the sweep', async () => {
  await query('drop table search')
  await query(`insert into search_fills values ('tracks', 10)`)
  await query(`insert into idempotency_keys (id, request_hash, created_at) values ('old', 'x', 0)`)
  const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  await runSweep()
  expect(error.mock.calls.join()).toContain('"phase":"search"')
  expect(await query('select id from idempotency_keys')).toEqual([])
})

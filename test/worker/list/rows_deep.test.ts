import { afterEach, describe, expect, it } from 'vitest'

import { fillText } from '../../../src/adapters/db/search.ts'
import { CREATOR, expectError, itemsOf, ok, query } from '../support/api.ts'
import { aTenant, type Tenant } from '../support/fixtures.ts'
import { countCallRows } from '../support/row_counter.ts'
import { countedLists, seed, seededId, seedSearched } from '../support/seed.ts'
import { createStorage } from '../support/storage.ts'

type Table = 'tracks' | 'collections' | 'playlists' | 'api_keys'

/** Deletes at least a fifth of the rows: single rows, long runs, and complete ranges of the list's counts. */
const thin = (table: Table, key: string) =>
  query(`delete from ${table} where ${key} % 7 = 3 or ${key} / 1000 % 19 = 4 or ${key} / 10000 = 2`)

/** The ids of the page, read with a plain OFFSET. */
async function idsByOffset({ organization_id, collection_id }: Tenant, table: Table, offset: number) {
  const list =
    table === 'tracks'
      ? `collection_id = '${collection_id}' order by "order"`
      : `organization_id = '${organization_id}' order by seq desc`
  const rows = await query<{ id: string }>(`select id from ${table} where ${list} limit 50 offset ${offset}`)
  return rows.map(({ id }) => id)
}

/** Compares pages at many offsets with those that OFFSET returns. Returns the maximum number of rows that were read for one page. */
async function expectSamePages(tenant: Tenant, table: Table, path: string): Promise<number> {
  const [{ count } = { count: 0 }] = await query<{ count: number }>(`select count(*) as count from ${table}`)
  const parts = [0.001, 0.01, 0.1, 0.25, 0.399, 0.4, 0.5, 0.77, 0.9, 0.99, 0.999]
  const offsets = [1, 299, 300, 301, ...parts.map((part) => Math.floor(count * part)), count - 50, count - 1, count]
  let maxRead = 0
  for (const offset of offsets) {
    const { read, body } = await countCallRows('GET', `${path}?offset=${offset}`, { key: tenant.key })
    expect(body.count).toBe(count)
    const page = itemsOf(body).map(({ id }) => id)
    expect([offset, page]).toEqual([offset, await idsByOffset(tenant, table, offset)])
    maxRead = Math.max(maxRead, read)
  }
  return maxRead
}

// Dropping the tables is faster than deleting thousands of rows.
afterEach(createStorage)

describe('a deep page', () => {
  it('of a list of 40,000 tracks with gaps equals the page that OFFSET returns, and reads at most 1,200 rows', async () => {
    const tenant = await aTenant()
    await seed('tracks', 1, 40_000, tenant, { change: () => thin('tracks', '"order"') })
    const maxRead = await expectSamePages(tenant, 'tracks', `/v1/collection/${tenant.collection_id}/track`)
    expect(maxRead).toBeLessThanOrEqual(1200)
  })

  it.each(['collections', 'playlists', 'api_keys'] as const)(
    'of a list of 40,000 %s with gaps, newest first, equals the page that OFFSET returns, and reads at most 1,200 rows',
    async (table) => {
      const tenant = await aTenant()
      await seed(table, 1, 40_000, tenant, { change: () => thin(table, 'seq') })
      await countCallRows('GET', '/v1/variant', { key: tenant.key })
      const maxRead = await expectSamePages(tenant, table, `/v1/${table.slice(0, -1)}`)
      expect(maxRead).toBeLessThanOrEqual(1200)
    },
  )

  // The length of a list's counts depends on the highest position, not on the number of tracks.
  it('of a list of tracks at every tenth of a million positions equals the page that OFFSET returns, and reads at most 1,200 rows', async () => {
    const tenant = await aTenant()
    await seed('tracks', 1, 100_000, tenant, {
      plain: true,
      every: 10,
      index: 'tracks_list',
      change: () => thin('tracks', '"order"'),
    })
    const maxRead = await expectSamePages(tenant, 'tracks', `/v1/collection/${tenant.collection_id}/track`)
    expect(maxRead).toBeLessThanOrEqual(1200)
  })

  it('past the end has no items but still contains the count', async () => {
    const tenant = await aTenant()
    await seed('tracks', 1, 1000, tenant)
    const path = `/v1/collection/${tenant.collection_id}/track?offset=999999999`
    const { body } = await countCallRows('GET', path, { key: tenant.key })
    expect(body).toMatchObject({ count: 1000, tracks: [] })
  })

  it('uses counts that the triggers update on insertion, deletion and reordering, and on a move with other changes in the same statement', async () => {
    const tenant = await aTenant()
    await seed('tracks', 1, 2000, tenant)
    await thin('tracks', '"order"')
    await query('update tracks set "order" = "order" + 100000 where "order" % 5 = 0')
    await query(
      `update tracks set status = 'failed', creator_id = null, organization_index = 'b' where "order" % 3 = 0`,
    )
    await query('update tracks set creator_id = id where "order" % 11 = 0')
    await query(
      `update tracks set collection_id = 'other', "order" = "order" + 300, status = 'failed', creator_id = null where "order" % 7 = 0`,
    )
    const maintained = await query(`select * from list_counts where list like 'tracks:%' order by list, level, bucket`)
    const counted = await Promise.all(countedLists('tracks').map((counts) => query(counts)))
    const text = (row: object) => JSON.stringify(row)
    const [a, b] = [new Set(maintained.map(text)), new Set(counted.flat().map(text))]
    expect([...a].filter((row) => !b.has(row))).toEqual([])
    expect([...b].filter((row) => !a.has(row))).toEqual([])
  })
})

/** Reads a list with `after`, and returns the ids and the maximum number of rows that a page read. */
async function readOn(tenant: Tenant, path: string, limit: number, start: string | null = null) {
  const ids: string[] = []
  let most = 0
  let after = start
  do {
    const place = after === null ? '' : `&after=${encodeURIComponent(after)}`
    const { body, read } = await countCallRows('GET', `${path}&limit=${limit}${place}`, { key: tenant.key })
    ids.push(...itemsOf(body).map(({ id }) => id))
    most = Math.max(most, read)
    after = body.after
  } while (after !== null)
  return { ids, most }
}

it('`after` continues every list in its order, where many items have the same value, and while items are deleted', async () => {
  const tenant = await aTenant()
  for (const table of ['tracks', 'collections'] as const) await seedSearched(table, 1, 260, tenant)
  await query(`update tracks set player_title = 'Seeded ' || char(97 + "order" % 3), duration = 1 + "order" % 4`)
  const path = `/v1/collection/${tenant.collection_id}/track`
  const paths = [
    ...['order', '-order', 'title', '-duration', 'created_at'].map((sort) => `${path}?sort=${sort}`),
    ...['title', '-title', 'created_at', '-created_at', 'duration', '-updated_at'].map(
      (sort) => `/v1/track?sort=${sort}`,
    ),
    ...['', '&sort=created_at', '&sort=title', '&sort=-duration', '&status=ready'].map(
      (rest) => `/v1/track?q=seed${rest}`,
    ),
    ...['?q=eede', '?status=ready', '?status=ready,failed&sort=title'].map((rest) => `${path}${rest}`),
    '/v1/track?status=ready',
    `/v1/track?creator_id=${CREATOR}`,
    `/v1/track?creator_id=${CREATOR}&sort=title`,
    '/v1/collection?sort=title',
    '/v1/collection?q=seed',
    `/v1/collection?creator_id=${CREATOR}`,
    '/v1/collection?sort=-created_at',
  ]
  for (const each of paths) {
    const pages = [0, 200].map((offset) => ok('GET', `${each}&limit=200&offset=${offset}`, tenant))
    const ids = (await Promise.all(pages)).flatMap((body) => itemsOf(body).map(({ id }) => id))
    expect(ids.length, each).toBeGreaterThan(80)
    expect([each, (await readOn(tenant, each, 37)).ids]).toEqual([each, ids])
  }
  // The item after which the page starts is gone.
  for (const sort of ['-created_at', 'title', 'created_at&q=seed']) {
    const { tracks, after } = await ok('GET', `/v1/track?sort=${sort}&limit=3`, tenant)
    await ok('DELETE', `/v1/track/${tracks[2]!.id}`, tenant)
    const { ids } = await readOn(tenant, `/v1/track?sort=${sort}`, 37, after)
    const known = new Set([...ids, ...tracks.map(({ id }: { id: string }) => id)])
    const all = await query<{ id: string }>('select id from tracks')
    expect(all.filter(({ id }) => !known.has(id))).toEqual([])
  }
  for (const after of ['x', 'nobody.1', `${seededId('tracks', 1)}.later`])
    await expectError(400, 'invalid_request', 'GET', `/v1/track?after=${after}`, tenant)
})

it('the list of all tracks is read beyond 10,000 with `after`, at the same cost for each page', async () => {
  const tenant = await aTenant()
  await seed('tracks', 1, 10_600, tenant, { plain: true })
  await query('update tracks set created_at = "order" / 3')
  await countCallRows('GET', '/v1/limits', { key: tenant.key })
  const { message } = await expectError(400, 'invalid_request', 'GET', '/v1/track?limit=1&offset=10001', tenant)
  expect(message).toContain('`after`')
  const rows = await query<{ id: string; at: number }>(
    'select id, created_at as at from tracks order by created_at desc, rowid desc',
  )
  const { id, at } = rows[9999]!
  const { ids, most } = await readOn(tenant, '/v1/track?sort=-created_at', 200, `${id}.${at}`)
  expect(ids).toEqual(rows.slice(10_000).map((row) => row.id))
  expect(most).toBeLessThanOrEqual(1200)
})

it('a list of more than 5,000 tracks of one creator is skipped further, and failed tracks behind as many others are found', async () => {
  const tenant = await aTenant()
  const change = () =>
    query(`update tracks set creator_id = '${CREATOR}', status = iif("order" <= 150, 'failed', 'incomplete')`)
  await seed('tracks', 1, 5200, tenant, { change })
  await query(fillText('tracks'), 0, Number.MAX_SAFE_INTEGER)
  const page = await ok('GET', `/v1/track?creator_id=${CREATOR}&offset=5000&limit=200`, tenant)
  expect(page.tracks).toHaveLength(200)
  expect((await ok('GET', '/v1/track?status=failed&limit=200', tenant)).tracks).toHaveLength(50)
})

it('a list continues behind 100,000 tracks that are not in it', async () => {
  const tenant = await aTenant()
  const { collection_id } = await ok('POST', '/v1/collection', { ...tenant, body: { title: 'Others' } })
  const change = () =>
    query(`update tracks set status = 'ready', player_title = 'm' where collection_id = '${collection_id}'`)
  await seed('tracks', 1, 5100, tenant, { plain: true })
  await query(
    `update tracks set player_title = iif("order" <= 2600, 'a', 'z'), status = iif("order" = 5200, 'failed', 'processing')`,
  )
  const others = { ...tenant, collection_id }
  await seed('tracks', 5101, 105_200, others, { plain: true, index: ['tracks_list', 'tracks_title'], change })
  const own = await query<{ id: string }>(
    `select id from tracks where collection_id = '${tenant.collection_id}' order by player_title, rowid`,
  )
  const ids = own.map(({ id }) => id)
  const sorted = `/v1/collection/${tenant.collection_id}/track?sort=title`
  expect((await readOn(tenant, sorted, 200)).ids).toEqual(ids)
  const failed = await readOn(tenant, '/v1/track?sort=title&status=failed,initializing', 200)
  expect(failed.ids).toEqual(ids.slice(-1))
  // The tracks of a collection that is being deleted are hidden.
  await query(`delete from collections where id = '${collection_id}'`)
  const [hidden] = await query<{ rows: number }>(
    `select count(*) as rows from tracks where collection_id = '${collection_id}'`,
  )
  expect(hidden!.rows).toBe(100_100)
  expect((await readOn(tenant, '/v1/track?sort=title', 200)).ids).toEqual(ids)
})

import { afterEach, describe, expect, it } from 'vitest'

import { itemsOf, query } from '../support/api.ts'
import { aTenant, type Tenant } from '../support/fixtures.ts'
import { countCallRows } from '../support/row_counter.ts'
import { countedLists, seed } from '../support/seed.ts'
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

  it('uses counts that the triggers update on insertion, deletion and reordering', async () => {
    const tenant = await aTenant()
    await seed('tracks', 1, 2000, tenant)
    await thin('tracks', '"order"')
    await query('update tracks set "order" = "order" + 100000 where "order" % 5 = 0')
    await query(
      `update tracks set status = 'failed', creator_id = null, organization_index = 'b' where "order" % 3 = 0`,
    )
    await query('update tracks set creator_id = id where "order" % 11 = 0')
    const maintained = await query(`select * from list_counts where list like 'tracks:%' order by list, level, bucket`)
    const counted = await Promise.all(countedLists('tracks').map((counts) => query(counts)))
    const text = (row: object) => JSON.stringify(row)
    const [a, b] = [new Set(maintained.map(text)), new Set(counted.flat().map(text))]
    expect([...a].filter((row) => !b.has(row))).toEqual([])
    expect([...b].filter((row) => !a.has(row))).toEqual([])
  })
})

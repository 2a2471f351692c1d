import { env } from 'cloudflare:workers'
import { expect, it, onTestFinished, vi } from 'vitest'

import { aCollection, aWaitingTrack, DAY, ok, query } from '../support/api.ts'
import { aTenant, eventually, runSweep } from '../support/fixtures.ts'
import { aProcessedTrack } from '../support/processed_track.ts'
import { countRows } from '../support/row_counter.ts'
import { withoutTriggers } from '../support/seed.ts'
import { createStorage } from '../support/storage.ts'
import { serveTranscoder } from '../support/transcoder.ts'
import { dateOf, expectCounted, filesSql, seedTracksWithoutFiles, recount } from '../support/usage_counts.ts'

/** The cost of the usage counts, and their correctness with many tracks and many days. */

it('the usage costs one row for each track that becomes ready or is deleted, and none for a track that waits for its upload', async () => {
  serveTranscoder()
  const { key, collection_id } = await aTenant()
  await aProcessedTrack(key, collection_id)
  const usage = await query<{ name: string; sql: string }>(
    `select name, sql from sqlite_master where type = 'trigger' and name like 'tracks_usage%'`,
  )
  expect(usage).toHaveLength(3)
  const waiting = await Promise.all([1, 2].map(() => aWaitingTrack(key, collection_id)))
  const finish = async (id: string) =>
    (
      await countRows(() =>
        query(`update tracks set files = ${filesSql('5')}, duration = 3, status = 'ready' where id = ?`, id),
      )
    ).written
  const remove = async (id: string) => (await countRows(() => query('delete from tracks where id = ?', id))).written
  const create = async () => (await countRows(() => aWaitingTrack(key, collection_id))).written
  const counted = [await create(), await finish(waiting[0]!), await remove(waiting[0]!)]
  await env.DB.batch(usage.map(({ name }) => env.DB.prepare(`drop trigger ${name}`)))
  const plain = [await create(), await finish(waiting[1]!), await remove(waiting[1]!)]
  await env.DB.batch(usage.map(({ sql }) => env.DB.prepare(sql)))
  expect(counted.map((rows, at) => rows - plain[at]!)).toEqual([0, 1, 1])
})

it('the usage is updated by the background deletion of a large collection and of an organization', async () => {
  onTestFinished(createStorage)
  serveTranscoder()
  const tenant = await aTenant()
  await aProcessedTrack(tenant.key, tenant.collection_id)
  const { id: collection_id } = await aCollection(tenant.key, { title: 'Large' })
  await withoutTriggers('tracks', async () => {
    await seedTracksWithoutFiles({ ...tenant, collection_id }, 5000)
    const values = `duration = "order" / 1000.0, files = ${filesSql('"order"')}`
    await query(`update tracks set ${values} where collection_id = ?`, collection_id)
  })
  await recount(tenant.organization_id)
  expect((await expectCounted(tenant)).tracks).toBe(5001)
  await ok('DELETE', `/v1/collection/${collection_id}`, { key: tenant.key })
  const remaining = async () =>
    (await query<{ n: number }>('select count(*) as n from tracks where collection_id = ?', collection_id))[0]!.n
  await vi.waitUntil(async () => (await remaining()) === 0, { timeout: 120_000, interval: 200 })
  expect(await expectCounted(tenant)).toMatchObject({ tracks: 1, bytes: { original: 10 } })

  await ok('DELETE', `/v1/organization/${tenant.organization_id}`, { key: env.ROOT_KEY })
  await eventually(async () => (await query('select 1 from tracks')).length === 0)
  expect(await query('select * from usage_days')).toEqual([])
})

it('the sweep merges days that are too old into one row, and keeps the totals', async () => {
  serveTranscoder()
  const tenant = await aTenant()
  await aProcessedTrack(tenant.key, tenant.collection_id)
  const day = (ago: number) => dateOf(Date.now() - ago * DAY)
  const move = (ago: number) => query('update usage_days set date = ? where date = ?', day(ago), day(0))
  await move(450)
  await aProcessedTrack(tenant.key, tenant.collection_id)
  await move(400)
  const track_id = await aProcessedTrack(tenant.key, tenant.collection_id)
  await move(399)
  await ok('DELETE', `/v1/track/${track_id}`, { key: tenant.key })
  const before = await expectCounted(tenant)
  const dates = async () =>
    (await query<{ date: string }>('select date from usage_days order by date')).map(({ date }) => date)
  for (const _ of [1, 2]) {
    await runSweep()
    expect(await dates()).toEqual(['', day(399), day(0)])
    expect(await expectCounted(tenant)).toEqual(before)
  }
  // Days that become too old later are merged as well.
  await query('update usage_days set date = ? where date = ?', day(401), day(0))
  await runSweep()
  expect(await dates()).toEqual(['', day(399)])
  expect(await expectCounted(tenant)).toEqual(before)
})

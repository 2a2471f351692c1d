import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it, onTestFinished } from 'vitest'

import { aReadyTrack, aShop, aTrackWithJob } from './fixtures.ts'
import { rowsDuring } from './meter.ts'
import { query } from './ready_track.ts'
import { makeStorage } from './storage.ts'
import { call, ok } from './support.ts'
import { events, result, startTranscoder } from './transcoder.ts'

/** `tracks.files`, a copy of what play views need of `track_variants`. */

const apply = (names: (name: string) => boolean) =>
  env.DB.batch(
    env.TEST_MIGRATIONS.filter(({ name }) => names(name))
      .flatMap(({ queries }) => queries)
      .map((text) => env.DB.prepare(text)),
  )
const sessionOf = async (key: string, track_id: string) =>
  (await ok('POST', '/v1/play_session/track', { key, body: { track_id } })).play_session_id as string
const copyOf = async (track_id: string) => (await query('select files from tracks where id = ?', track_id))[0]!.files

it('is made of what a database has, and no view changes', async () => {
  onTestFinished(makeStorage)
  const { key, collection_id } = await aShop()
  const track_id = await aReadyTrack(key, collection_id)
  const session = await sessionOf(key, track_id)
  /** As ids were before they told the hour of their end. */
  const old = (id: string) => `${id.slice(0, 14)}4${id.slice(15)}`
  const views = async (id: string) => {
    const { track, variants } = await ok('GET', `/v1/play/${id}/${track_id}`)
    return { track, paths: variants.map(({ path }: { path: string }) => path) }
  }
  const before = await views(session)
  // Everything again in a database of the version before.
  const tables = ['organizations', 'api_keys', 'collections', 'tracks', 'track_variants', 'play_sessions']
  const rows = await Promise.all(
    tables.map((table) => query(`select * from ${table === 'play_sessions' ? 'hourly_play_sessions' : table}`)),
  )
  await reset()
  await apply((name) => name < '0003')
  for (const [at, table] of tables.entries()) {
    for (const { files: _new, ...row } of rows[at]!) {
      if (table === 'play_sessions') row.id = old(session)
      const [names, values] = [Object.keys(row), Object.values(row)]
      await query(
        `insert into ${table} (${names.map((name) => `"${name}"`).join()}) values (${names.map(() => '?').join()})`,
        ...values,
      )
    }
  }
  await apply((name) => name >= '0003')
  expect(JSON.parse(String(await copyOf(track_id)))).toHaveLength(7)
  const { result: after, read } = await rowsDuring(() => views(old(session)))
  expect(after).toEqual(before)
  expect(after.paths).toHaveLength(3)
  expect(read).toBe(4)
})

it('is written with the files, and empty as soon as one is gone, whoever took it away', async () => {
  const work = await aTrackWithJob()
  startTranscoder({ transcode: () => events(result()) })
  await work.run()
  const stands = async () => JSON.parse(String(await copyOf(work.track_id))) as { index: string }[] | null
  const indexes = (await stands())!.map(({ index }) => index)
  const { variants } = await ok('GET', `/v1/track/${work.track_id}/variant`, { key: work.key })
  expect(indexes.toSorted()).toEqual(variants.map(({ index }: { index: string }) => index).toSorted())
  const path = `/v1/play/${await sessionOf(work.key, work.track_id)}/${work.track_id}`
  await query(`delete from track_variants where track_id = ? and "index" = 'aac-160'`, work.track_id)
  expect(await stands()).toBeNull()
  const seen = await call('GET', path)
  expect(seen.body.variants.map(({ variant }: { variant: { index: string } }) => variant.index)).not.toContain(
    'aac-160',
  )
})

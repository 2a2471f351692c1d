import { env } from 'cloudflare:workers'
import { expect, it, onTestFinished, vi } from 'vitest'

import { createTracks } from '../../../src/listening/tracks.ts'
import { query } from '../support/api.ts'
import { aReadyTrack, aTenant } from '../support/fixtures.ts'

it('reports that arrive during a read share the next one, and a failed read fails only its own', async () => {
  const { key, organization_id, collection_id } = await aTenant()
  const ids: string[] = []
  for (let made = 0; made < 4; made++) ids.push(await aReadyTrack(key, collection_id))
  await query('update tracks set duration = 200 where organization_id = ?', organization_id)
  let reads = 0
  const prepare = (sql: string) => {
    if (++reads === 2) throw new Error('The second read fails')
    return env.DB.prepare(sql)
  }
  const tracks = createTracks({ prepare } as never, organization_id)
  const find = async (...ids: string[]) => [...(await tracks.find(ids))!.keys()]
  const first = find(ids[0]!)
  await Promise.resolve()
  const second = [find(ids[1]!, ids[2]!), find(ids[2]!, ids[0]!)]
  const [found, ...failed] = await Promise.allSettled([first, ...second])
  expect(found).toEqual({ status: 'fulfilled', value: [ids[0]] })
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(reads).toBe(2)
  expect(await Promise.all(ids.map((id) => find(id)))).toEqual(ids.map((id) => [id]))
  expect(reads).toBe(3)
})

it('a known track of another collection that was deleted is read at most once a minute', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const rows = [
    { id: 'organization', collection: '', duration: 0 },
    { id: 'track', collection: 'before', duration: 200 },
  ]
  let reads = 0
  const all = async () => ({ results: rows.slice(0, ++reads === 1 ? 2 : 1) })
  const tracks = createTracks({ prepare: () => ({ bind: () => ({ all }) }) } as never, 'organization')
  const find = () => tracks.find(['track'], ({ collection }) => collection !== 'after')
  await find()
  vi.setSystemTime(Date.now() + 61_000)
  for (let times = 0; times < 3; times++) expect((await find())!.get('track')!.collection).toBe('before')
  expect(reads).toBe(2)
})

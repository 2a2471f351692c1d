import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { MINUTE } from '../../../src/contract/time.ts'
import { listeningObject } from '../../../src/listening/call_object.ts'
import { aCollection, aPlaySession, call, query } from '../support/api.ts'
import { aListen, aListener, today } from '../support/heard.ts'

/** An object that starts again counts what its log contains as it did before (docs/decisions/0102). */

function useClock() {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  return (by: number) => void vi.setSystemTime(Date.now() + by)
}

describe('an object that starts again', () => {
  it('counts reports for the collection to which a track was moved before them', async () => {
    const advance = useClock()
    const { send, track_id, collection_id, key, organization_id, stop } = await aListener()
    const visitsOf = async (id: string) => {
      const query = { scope: 'collection' as const, id, by: 'day' as const, from: today() - 1, to: today() }
      return (await listeningObject(env, organization_id, 0)('stats', query)).totals[1]
    }
    await send(aListen(track_id)([[0, 40]]))
    const other = await aCollection(key)
    await query('update tracks set collection_id = ? where id = ?', other.id, track_id)
    advance(MINUTE + 1)
    const { heard_token } = await aPlaySession(key, 'collection', other.id)
    for (let times = 0; times < 2; times++)
      await call('POST', `/v1/heard/${heard_token}`, { body: aListen(track_id)([[0, 40]], { age: 30 }) })
    const visits = async () => [await visitsOf(collection_id), await visitsOf(other.id)]
    expect(await visits()).toEqual([1, 2])
    await stop()
    expect(await visits()).toEqual([1, 2])
  })

  it('folds a long log at its next report, so that it does not read it each time', async () => {
    const { send, sums, rows, track_id, object, stop } = await aListener()
    const next = aListen(track_id)
    await send(next([[0, 40]]))
    const line = JSON.stringify(['refused', today(), 'time', 1])
    await runInDurableObject(object(), (_, { storage }) => {
      for (let row = 0; row < 500; row++) storage.sql.exec('insert into segment (body) values (?)', line)
    })
    await stop()
    const before = await sums()
    expect([before.refused, (await rows('segment')).length]).toEqual([{ time: 500 }, 501])
    await send(next([[0, 60]]))
    const after = { ...before, tenths: 600 }
    expect([await sums(), (await rows('segment')).length]).toEqual([after, 1])
    await stop()
    expect(await sums()).toEqual(after)
    await send(next([[0, 70]]))
    expect([await sums(), (await rows('segment')).length]).toEqual([{ ...before, tenths: 700 }, 2])
  })

  it('has closed the visits that were closed', async () => {
    const advance = useClock()
    const { send, sums, track_id, stop } = await aListener()
    const first = aListen(track_id)([[0, 40]])
    expect(await send(first)).toBe(204)
    advance(31 * MINUTE)
    // This report closes the visit, so the one after it is counted as another visit.
    for (const report of [aListen(track_id)([[0, 40]]), first]) expect(await send(report)).toBe(204)
    const before = await sums()
    expect(before).toMatchObject({ visits: 3, tenths: 1200 })
    await stop()
    expect(await sums()).toEqual(before)
  })
})

it('a new file of another length is noticed when it is heard', async () => {
  const advance = useClock()
  const { send, sums, track_id } = await aListener()
  await send(aListen(track_id)([[0, 40]]))
  await query('update tracks set duration = 300 where id = ?', track_id)
  advance(MINUTE + 1)
  expect(await send(aListen(track_id)([[0, 290]]))).toBe(204)
  expect(await sums()).toMatchObject({ visits: 2, tenths: 3300, completions: 1, refused: {} })
})

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it, onTestFinished, vi } from 'vitest'

import { ListeningEngine } from '../../../src/listening/engine.ts'
import { DAY, HOUR, query } from '../support/api.ts'
import { aListen, aListener, today } from '../support/heard.ts'

/** Calls `test` with the engine of an object, and with a function that sends it the first report of a visit. */
async function inEngine(
  DB: D1Database,
  test: (engine: ListeningEngine, heard: () => ReturnType<ListeningEngine['heard']>, sql: SqlStorage) => Promise<void>,
) {
  const { object, organization_id, session, collection_id, track_id } = await aListener()
  await runInDurableObject(object(), async (_, ctx) => {
    const engine = new ListeningEngine(ctx, { ...env, DB })
    const via = { scope: 'collection' as const, id: collection_id, share: null }
    const created_at = Date.now() - HOUR
    const heard = () =>
      engine.heard({
        organization_id,
        shard: 0,
        shards: 1,
        country: null,
        client: '',
        session: { id: session.play_session_id, created_at, via },
        report: aListen(track_id)([[0, 40]]),
      })
    await test(engine, heard, ctx.storage.sql)
  })
  return organization_id
}

/** Returns a database whose writes of folds wait until `release`, from the call of `hold` on. */
function aSlowDatabase() {
  const released = Promise.withResolvers<void>()
  let isHeld = false
  const prepare = (sql: string) => {
    if (!isHeld || !sql.includes('into listening_folds')) return env.DB.prepare(sql)
    const bind = (...values: unknown[]) => ({
      run: () =>
        released.promise.then(() =>
          env.DB.prepare(sql)
            .bind(...values)
            .run(),
        ),
    })
    return { bind }
  }
  return { DB: { prepare } as unknown as D1Database, hold: () => (isHeld = true), release: released.resolve }
}

it('a report that arrives while the alarm announces that all is folded announces its own fold after it', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: today() * DAY + HOUR })
  onTestFinished(() => void vi.useRealTimers())
  const { DB, hold, release } = aSlowDatabase()
  const organization_id = await inEngine(DB, async (engine, heard) => {
    expect(await heard()).toBe('ok')
    vi.setSystemTime(Date.now() + 2 * HOUR)
    hold()
    const alarm = engine.alarm()
    const report = heard()
    await new Promise((done) => setTimeout(done))
    release()
    await Promise.all([alarm, report])
  })
  const rows = await query('select due_at from listening_folds where organization_id = ?', organization_id)
  expect(rows).toEqual([{ due_at: (today() + 1) * DAY }])
})

/**
 * Replaces the clock and `scheduler.wait`. Returns a function that lets milliseconds pass, in steps of half a second. The time is in the future, so that the
 * object gets no alarm.
 */
function useVirtualTime() {
  vi.useFakeTimers({ toFake: ['Date'], now: (today() + 1) * DAY + HOUR })
  let waiting: { at: number; done: () => void }[] = []
  const wait = (ms: number) => new Promise<void>((done) => void waiting.push({ at: Date.now() + ms, done }))
  vi.stubGlobal('scheduler', { wait })
  onTestFinished(() => {
    vi.unstubAllGlobals()
    vi.useRealTimers()
  })
  const settle = () => new Promise((done) => setTimeout(done))
  return async (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 500) {
      await settle()
      vi.setSystemTime(Date.now() + 500)
      const due = waiting.filter(({ at }) => at <= Date.now())
      waiting = waiting.filter(({ at }) => at > Date.now())
      for (const { done } of due) done()
      await settle()
    }
  }
}

it('at one report a second, an object writes a row for four of them at most, and answers each within five seconds', async () => {
  const pass = useVirtualTime()
  await inEngine(env.DB, async (_, heard, sql) => {
    const rows = () => sql.exec<{ rows: number }>('select count(*) as rows from segment').one().rows
    await heard()
    await pass(1000)
    const waits: number[] = []
    const send = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        const sent = Date.now()
        void heard().then((outcome) => void waits.push(outcome === 'ok' ? Date.now() - sent : Infinity))
        await pass(1000)
      }
    }
    // Reports wait together from the second minute on.
    await send(59)
    expect([Math.max(...waits), rows()]).toEqual([0, 60])
    await send(180)
    await pass(5000)
    expect(waits).toHaveLength(239)
    expect(Math.max(...waits)).toBe(5000)
    expect(rows() - 60).toBeLessThanOrEqual(180 / 4)
    // After a pause, a report is alone again.
    await pass(5000)
    waits.length = 0
    await heard().then(() => waits.push(0))
    expect(waits).toEqual([0])
  })
})

it('an object without further reports wakes to close the month of its days', async () => {
  const { send, track_id, object, alarm } = await aListener()
  await send(aListen(track_id)([[0, 40]]))
  vi.useFakeTimers({ toFake: ['Date'], now: (today() + 2) * DAY + HOUR })
  onTestFinished(() => void vi.useRealTimers())
  await alarm()
  const yesterday = new Date(Date.now() - DAY)
  const second = Date.UTC(yesterday.getUTCFullYear(), yesterday.getUTCMonth() + 1, 2)
  expect(await runInDurableObject(object(), (_, { storage }) => storage.getAlarm())).toBe(second)
  vi.setSystemTime(second + HOUR)
  await alarm()
  const closed = await runInDurableObject(object(), (_, { storage: { sql } }) =>
    sql.exec('select 1 from closed').toArray(),
  )
  expect(closed).toHaveLength(1)
})

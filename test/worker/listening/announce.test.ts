import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it, onTestFinished, vi } from 'vitest'

import { ListeningEngine } from '../../../src/pipeline/listening/engine.ts'
import { DAY, HOUR, query } from '../support/api.ts'
import { aListen, aListener, today } from '../support/heard.ts'

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
  const { object, organization_id, play_session_id, collection_id, track_id } = await aListener().then((listener) => ({
    ...listener,
    play_session_id: listener.session.play_session_id,
  }))
  const { DB, hold, release } = aSlowDatabase()
  await runInDurableObject(object(), async (_, ctx) => {
    const engine = new ListeningEngine(ctx, { ...env, DB })
    const via = { scope: 'collection' as const, id: collection_id, share: null }
    const session = { id: play_session_id, created_at: Date.now() - HOUR, via }
    const heard = () =>
      engine.heard({
        organization_id,
        shard: 0,
        shards: 1,
        country: null,
        client: '',
        session,
        report: aListen(track_id)([[0, 40]]),
      })
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

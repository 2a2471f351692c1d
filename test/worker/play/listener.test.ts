import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { anApiKey, call, DAY, expectError, ok, query } from '../support/api.ts'
import { aReadyTrack, aTenant, runSweep } from '../support/fixtures.ts'
import { aListen, type Ranges } from '../support/heard.ts'

/** Tests the progress of listeners (docs/counting.md#progress-of-a-listener). */

let key: string
let collection_id: string
let track_id: string
let organization_id: string

beforeEach(async () => {
  ;({ key, collection_id, organization_id } = await aTenant())
  track_id = await aReadyTrack(key, collection_id)
  await query('update tracks set duration = 200 where id = ?', track_id)
})

/** Creates a session, and returns a function that reports a listen of the track in a new visit. */
async function aSession(listener?: string, body: object = {}) {
  const created = await ok('POST', '/v1/play_session/collection', { key, body: { collection_id, listener, ...body } })
  const id = created.play_session_id
  await query('update play_sessions set created_at = created_at - 3600000 where id = ?', id)
  const { heard_token } = (await call('GET', `/v1/play/${id}`)).body
  const listen = () => {
    const next = aListen(track_id)
    return async (ranges: Ranges, again?: Ranges) =>
      expect((await call('POST', `/v1/heard/${heard_token}`, { body: next(ranges, {}, again) })).status).toBe(204)
  }
  return { created, listen }
}
const progress = async (listener: string) =>
  (await ok('GET', `/v1/listener/${encodeURIComponent(listener)}/progress`, { key })).tracks

describe('the progress of a listener', () => {
  it('joins the ranges of all sessions, and has the position at which the last one stopped', async () => {
    await query('update organizations set listening_shards = 4 where id = ?', organization_id)
    const { listen } = await aSession('ana@school 7/ü')
    const first = listen()
    await first([[0, 30]])
    await first([
      [0, 50.5],
      [100, 120],
    ])
    const [one] = await progress('ana@school 7/ü')
    expect(one).toMatchObject({
      track_id,
      duration: 200,
      ranges: [
        [0, 50.5],
        [100, 120],
      ],
      heard: 0.353,
      position: 120,
    })
    await (await aSession('ana@school 7/ü')).listen()([[40, 70]])
    const again = await progress('ana@school 7/ü')
    expect(again).toMatchObject([
      {
        ranges: [
          [0, 70],
          [100, 120],
        ],
        position: 70,
        heard: 0.45,
      },
    ])
    expect(await progress('ana@school 8')).toEqual([])
  })

  it('starts again after the end', async () => {
    const { listen } = await aSession('ben')
    const report = listen()
    await report([[150, 199]])
    expect((await progress('ben'))[0]!.position).toBe(0)
    await report([
      [0, 12],
      [150, 199],
    ])
    expect((await progress('ben'))[0]!.position).toBe(12)
  })

  it('starts again only after nine tenths of a short track', async () => {
    await query('update tracks set duration = 4 where id = ?', track_id)
    const { listen } = await aSession('kim')
    const report = listen()
    await report([[0, 3.5]])
    expect((await progress('kim'))[0]!.position).toBe(3.5)
    await report([[0, 3.7]])
    expect((await progress('kim'))[0]!.position).toBe(0)
  })

  it('continues when the exact length of the file becomes known, and starts again with another file', async () => {
    const next = async (duration: number, ranges: Ranges) => {
      await query('update tracks set duration = ? where id = ?', duration, track_id)
      await (await aSession('eli')).listen()(ranges)
      // The object reads the track again.
      await evictDurableObject(env.LISTENING.getByName(organization_id))
      return (await progress('eli'))[0]
    }
    await next(200.045, [[0, 50]])
    expect(await next(200.012, [[50, 60]])).toMatchObject({ duration: 200.012, ranges: [[0, 60]] })
    expect(await next(210, [[60, 70]])).toMatchObject({ duration: 210, ranges: [[60, 70]] })
  })

  it('is not kept without `listener`, and the counts are the same', async () => {
    await (await aSession()).listen()([[0, 40]])
    await (await aSession('cem')).listen()([[0, 40]])
    expect(await progress('cem')).toHaveLength(1)
    expect((await ok('GET', `/v1/stats/track/${track_id}`, { key })).totals.plays).toBe(2)
  })

  it('is deleted on request', async () => {
    const { listen } = await aSession('dia')
    const report = listen()
    await report([[0, 40]])
    expect((await ok('DELETE', '/v1/listener/dia/progress', { key })).deleted_tracks).toBe(1)
    expect(await progress('dia')).toEqual([])
    expect((await ok('DELETE', '/v1/listener/dia/progress', { key })).deleted_tracks).toBe(0)
    expect((await ok('GET', `/v1/stats/track/${track_id}`, { key })).totals.plays).toBe(1)
  })

  it('has only what was heard after it was deleted, once or again', async () => {
    const { listen } = await aSession('fay')
    const report = listen()
    await report([[0, 40]])
    await ok('DELETE', '/v1/listener/fay/progress', { key })
    await report([[0, 45]])
    expect(await progress('fay')).toMatchObject([{ ranges: [[40, 45]], position: 45 }])
    await report([[0, 45]], [[10, 12]])
    const ranges = [
      [10, 12],
      [40, 45],
    ]
    expect(await progress('fay')).toMatchObject([{ ranges, position: 12 }])
  })

  it('can be read and deleted after SIGNING_SECRET was changed', async () => {
    await (await aSession('hal')).listen()([[0, 40]])
    const options = { key, bindings: { ...env, SIGNING_SECRET: 'another secret of the service' } }
    const path = '/v1/listener/hal/progress'
    expect((await ok('GET', path, options)).tracks).toHaveLength(1)
    expect((await ok('DELETE', path, options)).deleted_tracks).toBe(1)
    expect(await progress('hal')).toEqual([])
    const [row] = await query('select listener_key from organizations where id = ?', organization_id)
    expect(row!.listener_key).toMatch(/^[\da-f]{64}$/)
    const { organization } = await ok('GET', `/v1/organization/${organization_id}`, { key })
    expect(JSON.stringify(organization)).not.toContain(row!.listener_key)
  })

  it('has no deleted tracks, and has them again when they are restored', async () => {
    await (await aSession('ira')).listen()([[0, 40]])
    await ok('DELETE', `/v1/track/${track_id}?trash=true`, { key })
    expect(await progress('ira')).toEqual([])
    await ok('POST', `/v1/trash/${track_id}/restore`, { key })
    expect(await progress('ira')).toHaveLength(1)
  })

  it('ends after the `progress_days` of the organization, and is deleted when no report comes any more', async () => {
    // In the middle of a month, so that no month is closed meanwhile.
    const now = new Date()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 5) })
    onTestFinished(() => void vi.useRealTimers())
    await (await aSession('jan')).listen()([[0, 40]])
    const heardAt = Date.now()
    const object = env.LISTENING.getByName(organization_id)
    const stored = () =>
      runInDurableObject(object, async (_, { storage }) => ({
        rows: storage.sql.exec('select 1 from progress').toArray().length,
        alarm: await storage.getAlarm(),
      }))
    const path = `/v1/organization/${organization_id}`
    for (const progress_days of [0, 3651, 1.5, null])
      await expectError(400, 'invalid_request', 'PUT', path, { key, body: { progress_days } })
    expect((await ok('PUT', path, { key, body: { progress_days: 10 } })).organization.progress_days).toBe(10)
    // Without listening, the object wakes only to end the progress.
    vi.setSystemTime(heardAt + 3 * DAY)
    await runDurableObjectAlarm(object)
    expect(await stored()).toEqual({ rows: 1, alarm: heardAt + 10 * DAY + 1 })
    expect(await query('select due_at from listening_folds')).toEqual([{ due_at: heardAt + 10 * DAY + 1 }])
    expect(await progress('jan')).toHaveLength(1)
    vi.setSystemTime(heardAt + 4 * DAY)
    await ok('PUT', path, { key, body: { progress_days: 3 } })
    expect([await progress('jan'), (await stored()).rows]).toEqual([[], 1])
    await runSweep()
    expect((await stored()).rows).toBe(0)
    expect(await query('select due_at from listening_folds')).toEqual([{ due_at: 0 }])
  })

  it('belongs to the organization', async () => {
    await (await aSession('eva')).listen()([[0, 40]])
    const other = await aTenant()
    expect((await ok('GET', '/v1/listener/eva/progress', { key: other.key })).tracks).toEqual([])
  })

  it('is stored without the pseudonym, which no response contains', async () => {
    const { created } = await aSession('felix@example.com')
    const [row] = await query('select * from play_sessions where id = ?', created.play_session_id)
    expect(row!.listener).toMatch(/^[\da-f]{32}$/)
    expect(JSON.stringify([row, created])).not.toContain('felix')
  })
})

it('only a server key may set `listener`, which has 1 to 64 characters', async () => {
  const { secret } = await anApiKey(key)
  const path = '/v1/play_session/collection'
  await expectError(403, 'insufficient_scope', 'POST', path, { key: secret, body: { collection_id, listener: 'gus' } })
  for (const listener of ['', 'x'.repeat(65), 7, '.', '..'])
    await expectError(400, 'invalid_request', 'POST', path, { key, body: { collection_id, listener } })
  for (const method of ['GET', 'DELETE']) {
    const long = `/v1/listener/${'x'.repeat(65)}/progress`
    const { message } = await expectError(400, 'invalid_request', method, long, { key })
    expect(message).toBe('listener: must be between 1 and 64 characters, not 65')
  }
})

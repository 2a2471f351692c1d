import { runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it, onTestFinished, vi } from 'vitest'

import { TonearmEvent } from '../../../src/contract/event.ts'
import { listeningObject } from '../../../src/listening/call_object.ts'
import { DAY, HOUR, ok, query } from '../support/api.ts'
import { aListen, aListener, heardReport, today } from '../support/heard.ts'

/** Tests the event `stats.day` (docs/decisions/0104). */

/** Noon of tomorrow: no midnight is near, and no alarm is due by the clock of the runtime, which runs alarms. */
const NOON = (today() + 1.5) * DAY

/** Runs something some hours after `NOON`. */
async function after<T>(hours: number, run: () => Promise<T>): Promise<T> {
  vi.setSystemTime(NOON + hours * HOUR)
  try {
    return await run()
  } finally {
    vi.setSystemTime(NOON)
  }
}
/** Hours from `NOON` until after midnight. */
const NIGHT = 14

const dayEvents = async (key: string) => (await ok('GET', '/v1/event?type=stats.day', { key })).events

it('a day with reports has one event, after midnight, whichever object is the first', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOON })
  onTestFinished(() => void vi.useRealTimers())
  const { send, track_id, alarm, key, organization_id } = await aListener()
  // Events are ordered by the clock of the database, which is not set.
  await query('update events set seq = seq + ? where organization_id = ?', 2 * DAY, organization_id)
  await query('update organizations set listening_shards = 2 where id = ?', organization_id)
  const date = new Date(today() * DAY).toISOString().slice(0, 10)
  await send(aListen(track_id)([[0, 40.5]]))
  await send(heardReport(track_id, { age: 300, listens: [{ track: track_id, ranges: [[0, 900]] }] }))
  // Nothing was heard for more than an hour: the sums are folded, and the alarm of midnight remains.
  expect(await after(1.1, alarm)).toBe(true)
  expect(await dayEvents(key)).toEqual([])
  expect(await after(NIGHT, alarm)).toBe(true)
  const [event, ...more] = await dayEvents(key)
  expect(more).toEqual([])
  expect(TonearmEvent.parse(event)).toMatchObject({
    type: 'stats.day',
    subject: `organization:${organization_id}`,
    actor: null,
  })
  expect(event!.data).toEqual({
    date,
    plays: 1,
    visits: 1,
    seconds: 40.5,
    completions: 0,
    downloads: 0,
    muted_seconds: 0,
    fast_seconds: 0,
    refused: 1,
  })
  // Another object of the organization, with its own reports, has no second event.
  const other = env.LISTENING.getByName(`${organization_id}#1`)
  const report = heardReport(track_id, { age: 300 })
  const session = {
    id: crypto.randomUUID(),
    created_at: Date.now() - HOUR,
    via: { scope: 'track' as const, id: track_id, share: null },
  }
  const call = { organization_id, shard: 1, shards: 2, report, session, country: null, client: '' }
  await listeningObject(env, organization_id, 1)('heard', call)
  expect(await after(NIGHT, () => runDurableObjectAlarm(other))).toBe(true)
  expect(await dayEvents(key)).toHaveLength(1)
  // An object that has recorded the day does not ask again.
  await query('delete from events where organization_id = ?', organization_id)
  await after(NIGHT, () => listeningObject(env, organization_id, 0)('alarm'))
  expect(await dayEvents(key)).toEqual([])
})

it('an object that was off at midnight and the day after records the day later', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOON })
  onTestFinished(() => void vi.useRealTimers())
  const { send, track_id, alarm, key, organization_id } = await aListener()
  await query('update events set seq = seq + ? where organization_id = ?', 2 * DAY, organization_id)
  const dates = async () => (await dayEvents(key)).map(({ data }) => (data as { date: string }).date)
  const dateOf = (day: number) => new Date(day * DAY).toISOString().slice(0, 10)
  const first = today()
  await send(aListen(track_id)([[0, 40]]))
  expect(await after(NIGHT + 48, alarm)).toBe(true)
  expect(await dates()).toEqual([dateOf(first)])
})

it('an object stays overdue until its day is recorded', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOON })
  onTestFinished(() => void vi.useRealTimers())
  const { send, track_id, key, organization_id } = await aListener()
  await query('update events set seq = seq + ? where organization_id = ?', 2 * DAY, organization_id)
  await send(aListen(track_id)([[0, 40]]))
  const alarm = () => listeningObject(env, organization_id, 0)('alarm', { organization_id, shard: 0 })
  const dueAt = async () =>
    (
      await query<{ due_at: number }>('select due_at from listening_folds where organization_id = ?', organization_id)
    )[0]!.due_at
  const midnight = (today() + 1) * DAY
  await query(`create trigger refuse_day before insert on events when new.type = 'stats.day'
    begin select raise(abort, 'the database is off'); end`)
  await expect(after(NIGHT, alarm)).rejects.toThrow('the database is off')
  expect(await dueAt()).toBe(midnight)
  await query('drop trigger refuse_day')
  await after(NIGHT, alarm)
  expect(await dueAt()).toBe(0)
  expect(await dayEvents(key)).toHaveLength(1)
})

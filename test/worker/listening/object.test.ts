import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import type { Row } from '../../../src/contract/backup.ts'
import type { HeardReport } from '../../../src/contract/heard.ts'
import { listeningObject } from '../../../src/listening/call_object.ts'
import { reportFold } from '../../../src/listening/fold_times.ts'
import { insertListening, readListening } from '../../../src/resources/operator/backup_listening.ts'
import { aPlaySession, call, DAY, HOUR, ok, query, UNKNOWN_ID } from '../support/api.ts'
import { advanceHours, eventually, runSweep } from '../support/fixtures.ts'
import { aListen, aListener, aVisit, heardReport, NOTHING, type Ranges, today } from '../support/heard.ts'

/** The listening of an organization in its Durable Object, through the API (docs/decisions/0102). */

const aVia = { scope: 'collection' as const, id: UNKNOWN_ID, share: null }

describe('reports', () => {
  it('are cumulative: each adds what is new', async () => {
    const { send, sums, track_id } = await aListener()
    const next = aListen(track_id)
    expect([await send(next([[0, 20]])), await sums()]).toEqual([204, { ...NOTHING, visits: 1, tenths: 200 }])
    await send(next([[0, 31]]))
    expect(await sums()).toEqual({ ...NOTHING, plays: 1, visits: 1, tenths: 310 })
    await send(next([[0, 200]], {}, [[10, 20]]))
    const all = { ...NOTHING, plays: 1, visits: 1, tenths: 2100, completions: 1 }
    expect([await sums(), await sums('track')]).toEqual([all, all])
  })

  it('count once if they are repeated or arrive in another order, and the next repairs a lost one', async () => {
    const { send, sums, track_id } = await aListener()
    const next = aListen(track_id)
    const [first, lost, third] = [next([[0, 20]]), next([[0, 40]]), next([[0, 60]])]
    for (const report of [first, first, third, lost, third]) expect(await send(report)).toBe(204)
    expect(await sums()).toEqual({ ...NOTHING, plays: 1, visits: 1, tenths: 600 })
  })

  it('of one visit may leave out listens that were finished', async () => {
    const { send, sums, track_id: track } = await aListener()
    const visit = aVisit()
    const listen = (until: number) => ({ track, ranges: [[0, until]] as Ranges })
    await send(heardReport(track, { visit, age: 200, listens: [listen(100), listen(50)] }))
    await send(heardReport(track, { visit, sequence: 2, age: 220, first: 1, listens: [listen(80), listen(40)] }))
    await send(heardReport(track, { visit, sequence: 3, age: 240, first: 2, listens: [listen(60)] }))
    expect(await sums()).toEqual({ ...NOTHING, plays: 3, visits: 1, tenths: 2400 })
    expect(await sums('track')).toMatchObject({ visits: 1 })
  })

  it('are not stored if the listener has opted out (Sec-GPC)', async () => {
    const { send, sums, track_id } = await aListener()
    expect(await send(aListen(track_id)([[0, 60]]), { 'sec-gpc': '1' })).toBe(204)
    expect(await sums()).toEqual(NOTHING)
  })
})

describe('the object', () => {
  it('loses nothing when it stops, before or after a fold', async () => {
    const { send, sums, track_id, stop, alarm, rows } = await aListener()
    const next = aListen(track_id)
    await send(next([[0, 40]]))
    await send(heardReport('00011111-1111-4111-8111-111111111111'))
    await send(aListen(track_id)([[0, 10]]))
    const expected = { ...NOTHING, plays: 1, visits: 2, tenths: 500, refused: { track: 1 } }
    await stop()
    expect(await sums()).toEqual(expected)
    expect(await alarm()).toBe(true)
    expect(await sums()).toEqual(expected)
    await stop()
    expect(await sums()).toEqual(expected)
    expect(await rows('segment')).toHaveLength(1)
    // The visit is still open, so its next report adds only the difference.
    const last = next([[0, 60]])
    await send(last)
    await send(last)
    expect(await sums()).toEqual({ ...expected, tenths: 700 })
    await stop()
    await send(last)
    expect(await sums()).toEqual({ ...expected, tenths: 700 })
  })

  it('writes reports that arrive together as one row, and a report that is alone at once', async () => {
    const { path, rows, track_id, sums } = await aListener()
    const send = () => call('POST', path, { body: aListen(track_id)([[0, 4]]) })
    await send()
    expect(await rows('segment')).toHaveLength(1)
    await Promise.all(Array.from({ length: 50 }, send))
    expect((await rows('segment')).length).toBeLessThanOrEqual(4)
    expect(await sums()).toMatchObject({ visits: 51 })
  })

  it('closes visits after half an hour, and deletes the log once all are closed', async () => {
    const { send, sums, track_id, alarm, rows } = await aListener()
    const next = aListen(track_id)
    await send(next([[0, 40]]))
    advanceHours(1)
    try {
      await send(next([[0, 60]], { age: 36 * 60 }))
      expect(await sums()).toMatchObject({ tenths: 400, refused: { late: 1 } })
      // The late report is in the log until the next fold, an hour after it.
      vi.setSystemTime(Date.now() + HOUR)
      await alarm()
      expect(await rows('segment')).toEqual([])
    } finally {
      vi.useRealTimers()
    }
  })

  it('folds when the day ends (UTC)', async () => {
    const { send, track_id, key, collection_id, rows } = await aListener()
    await send(aListen(track_id)([[0, 40]]))
    expect(await rows('day')).toEqual([])
    vi.useFakeTimers({ toFake: ['Date'], now: (Math.floor(Date.now() / DAY) + 1) * DAY + 1000 })
    try {
      const { heard_token } = await aPlaySession(key, 'collection', collection_id)
      await call('POST', `/v1/heard/${heard_token}`, { body: heardReport(track_id) })
      expect((await rows('day')).length).toBeGreaterThan(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('announces its next fold to the database, and the sweep folds if it is overdue', async () => {
    const { send, organization_id, track_id, alarm, stop, rows } = await aListener()
    await send(aListen(track_id)([[0, 40]]))
    const due = async () =>
      query('select shard, due_at from listening_folds where organization_id = ?', organization_id)
    const system = async () => {
      const { failing, listening } = (await ok('GET', '/v1/system', { key: env.ROOT_KEY })).system
      return { overdue: listening.overdue_folds, isFailing: failing.includes('listening') }
    }
    expect(await due()).toEqual([{ shard: 0, due_at: (Math.floor(Date.now() / DAY) + 1) * DAY }])
    const makeDue = (at: number) =>
      query('update listening_folds set due_at = ? where organization_id = ?', at, organization_id)
    // The alarm may still be tried again.
    const recent = Date.now() - HOUR
    await makeDue(recent)
    await stop()
    await runSweep()
    expect(await due()).toEqual([{ shard: 0, due_at: recent }])
    // The alarm was lost, so the sweep folds.
    await makeDue(Date.now() - 3 * HOUR)
    await runSweep()
    expect(await system()).toEqual({ overdue: 0, isFailing: false })
    expect((await rows('day')).length).toBeGreaterThan(0)
    advanceHours(1)
    try {
      await alarm()
    } finally {
      vi.useRealTimers()
    }
    expect(await due()).toEqual([{ shard: 0, due_at: 0 }])
  })

  it('announces its size with its fold, and logs it when it is 70 % full', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    onTestFinished(() => logged.mockRestore())
    const { send, organization_id, track_id, object, alarm } = await aListener()
    await send(aListen(track_id)([[0, 40]]))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY })
    onTestFinished(() => void vi.useRealTimers())
    await alarm()
    const [row] = await query<{ bytes: number }>(
      'select bytes from listening_folds where organization_id = ?',
      organization_id,
    )
    expect(row!.bytes).toBe(await runInDurableObject(object(), (_, { storage }) => storage.sql.databaseSize))
    expect(row!.bytes).toBeGreaterThan(4096)
    for (const bytes of [6.9e9, 7.1e9]) await reportFold(env.DB, { organization_id, shard: 3 }, 0, bytes)
    const lines = logged.mock.calls.map(([line]) => String(line)).filter((line) => line.includes('listening_filling'))
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ organization_id, shard: 3, bytes: 7.1e9 }])
  })

  it('announces a fold once, however often it is stopped', async () => {
    const { send, organization_id, track_id, alarm, stop } = await aListener()
    const due = async () =>
      (await query('select due_at from listening_folds where organization_id = ?', organization_id))[0]
    await send(aListen(track_id)([[0, 40]]))
    await query('update listening_folds set due_at = 7 where organization_id = ?', organization_id)
    await stop()
    await send(aListen(track_id)([[0, 40]]))
    await alarm()
    expect(await due()).toEqual({ due_at: 7 })
    vi.useFakeTimers({ toFake: ['Date'], now: (today() + 1) * DAY + 2 * HOUR })
    try {
      await alarm()
      expect(await due()).toEqual({ due_at: 0 })
    } finally {
      vi.useRealTimers()
    }
  })

  it('is folded by the sweep although that of another organization fails; objects of deleted organizations are erased', async () => {
    const [broken, whole, forgetful] = [await aListener(), await aListener(), await aListener()]
    const gone = { organization_id: crypto.randomUUID(), track_id: null }
    const all = [broken, whole, forgetful, gone]
    for (const { send, track_id } of [broken, whole, forgetful]) await send(aListen(track_id)([[0, 40]]))
    const place = { track: null, collection: null, country: null, source: null, day: today(), via: aVia }
    await listeningObject(env, whole.organization_id, 0)('download', { ...whole, shard: 0 }, place)
    for (const [at, { organization_id }] of all.entries()) {
      const due_at = Date.now() - (4 - at) * 3 * HOUR
      await query('insert or replace into listening_folds values (?, 0, ?, null)', organization_id, due_at)
    }
    const run = ({ object }: typeof broken, statement: string) =>
      runInDurableObject(object(), (_, { storage }) => void storage.sql.exec(statement))
    await run(broken, 'alter table day rename column totals to hidden')
    await run(forgetful, 'delete from self')
    await Promise.all([broken, whole, forgetful].map(({ stop }) => stop()))
    await runSweep()
    const { failing } = (await ok('GET', '/v1/system', { key: env.ROOT_KEY })).system
    expect(failing).toContain('listening')
    const due = async ({ organization_id }: { organization_id: string }) =>
      (
        await query<{ due_at: number }>('select due_at from listening_folds where organization_id = ?', organization_id)
      )[0]
    const midnight = (today() + 1) * DAY
    expect(await Promise.all([whole, forgetful].map(due))).toEqual([{ due_at: midnight }, { due_at: midnight }])
    expect((await due(broken))!.due_at).toBeLessThan(Date.now())
    expect(await due(gone)).toBeUndefined()
    expect((await whole.rows('day')).length).toBeGreaterThan(0)
    await query('delete from listening_folds where organization_id = ?', broken.organization_id)
  })

  it('is erased with its organization, and accepts no reports for it', async () => {
    const { send, organization_id, track_id, object, rows, stop, alarm } = await aListener()
    await send(aListen(track_id)([[0, 40]]))
    await stop()
    await alarm()
    expect((await rows('day')).length).toBeGreaterThan(0)
    await ok('DELETE', `/v1/organization/${organization_id}`, { key: env.ROOT_KEY })
    const erased = () => query('select 1 from listening_folds where organization_id = ?', organization_id)
    await eventually(async () => (await erased()).length === 0)
    expect(await runInDurableObject(object(), (_, { storage }) => storage.getAlarm())).toBeNull()
    expect(await send(aListen(track_id)([[0, 40]]))).toBe(404)
    const place = { track: track_id, collection: null, country: null, source: null, day: today(), via: aVia }
    await listeningObject(env, organization_id, 0)('download', { organization_id, shard: 0 }, place)
    expect([await rows('day'), await rows('segment'), await rows('self'), await erased()]).toEqual([[], [], [], []])
    expect(await runInDurableObject(object(), (_, { storage }) => storage.getAlarm())).toBeNull()
  })

  it('is in a backup, from which another object continues', async () => {
    const { send, sums, organization_id, track_id } = await aListener()
    const next = aListen(track_id)
    await send(next([[0, 40]]))
    const rows: Row[] = []
    for (let after: (string | number)[] | null = [organization_id, 0, '']; after?.[0] === organization_id;) {
      const page = await readListening(env, after)
      rows.push(...page.rows.listening!)
      ;({ after } = page)
    }
    const before = await sums()
    expect(before).toMatchObject({ plays: 1, visits: 1, tenths: 400 })
    await listeningObject(env, organization_id, 0)('erase')
    expect(await sums()).toEqual(NOTHING)
    for (let times = 0; times < 2; times++) await insertListening(env, rows)
    expect(await sums()).toEqual(before)
    // The open visit is restored too: its next report adds only the difference.
    await send(next([[0, 60]]))
    expect(await sums()).toEqual({ ...before, tenths: 600 })
  })

  const breaks: [string, string, string][] = [
    ['the log', 'alter table segment rename column body to hidden', 'alter table segment rename column hidden to body'],
    ['the progress', 'alter table progress add column hidden', 'alter table progress drop column hidden'],
  ]
  it.each(breaks)('answers 503 if it cannot write %s, and counts once what is sent again', async (_, fault, repair) => {
    const { sums, track_id, object, key, collection_id } = await aListener()
    const body = { collection_id, listener: 'ana' }
    const { heard_token } = await ok('POST', '/v1/play_session/collection', { key, body })
    const send = async (report: HeardReport) =>
      (await call('POST', `/v1/heard/${heard_token}`, { body: report })).status
    const next = aListen(track_id)
    for (const report of [next([[0, 10]], { age: 10 }), aListen(track_id)([[0, 7]], { age: 10 })])
      expect(await send(report)).toBe(204)
    const run = (statement: string) =>
      runInDurableObject(object(), (_, { storage }) => void storage.sql.exec(statement))
    await run(fault)
    const report = next([[0, 40]], { age: 25 })
    expect(await send(report)).toBe(503)
    await run(repair)
    expect(await sums()).toMatchObject({ visits: 2, tenths: 170 })
    expect(await send(report)).toBe(204)
    expect(await sums()).toMatchObject({ visits: 2, tenths: 470 })
  })
})

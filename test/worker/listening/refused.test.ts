import { describe, expect, it, onTestFinished, vi } from 'vitest'

import type { HeardReport } from '../../../src/contract/heard.ts'
import { aCollection, aPlaySession, call, expectError, query } from '../support/api.ts'
import { aReadyTrack, aTenantWithTrack } from '../support/fixtures.ts'
import { aListen, aListener, aVisit, heardReport, NOTHING, type Ranges, today } from '../support/heard.ts'

/** The plausibility of listening reports (docs/decisions/0102). */

describe('a report is refused, and counted as refused', () => {
  const listenOf = (listen: Partial<HeardReport['listens'][number]>) => (track: string) => {
    const good = { track, ranges: [[0, 4]] as Ranges }
    return heardReport(track, { listens: [good, { track, ranges: [], ...listen }] })
  }
  const rangesOf = (...ranges: Ranges) => listenOf({ ranges })
  const bad: [message: string, reason: string, (track: string) => HeardReport][] = [
    ['listens.1.ranges: starts at 5, but the range before it ends at 10', 'ranges', rangesOf([0, 10], [5, 20])],
    ['listens.1.ranges: starts at 0, but the range before it ends at 30', 'ranges', rangesOf([20, 30], [0, 10])],
    ['listens.1.ranges: ends at 10, before its start at 20', 'ranges', rangesOf([20, 10])],
    ['listens.1.ranges: ends at 206, but the track has 200 seconds', 'ranges', rangesOf([190, 206])],
    ['listens.1.again: ends at 260, but the track has 200 seconds', 'ranges', listenOf({ again: [[190, 260]] })],
    [
      'listens.1.again: has 20 to 30, which is not in ranges',
      'ranges',
      listenOf({ ranges: [[0, 10]], again: [[20, 30]] }),
    ],
    [
      'listens.1.fast: is 9, but ranges and again have 5.5 seconds',
      'ranges',
      listenOf({ ranges: [[0, 4]], again: [[1, 2.5]], fast: 9 }),
    ],
    [
      'listens.0: has no seconds, which only a new listen at the end may have',
      'ranges',
      (track) =>
        heardReport(track, {
          listens: [
            { track, ranges: [] },
            { track, ranges: [[0, 4]] },
          ],
        }),
    ],
    [
      'age: is 10 seconds, too few to play 50 seconds at double speed',
      'time',
      (track) => aListen(track)([[0, 50]], { age: 10 }),
    ],
    ['age: is 5 seconds, too few to play 104 seconds at double speed', 'time', listenOf({ muted: 100 })],
    [
      'age: is 86400 seconds, but the session was created',
      'time',
      (track) => aListen(track)([[0, 50]], { age: 86_400 }),
    ],
    [
      'visit: is no longer known, and cannot start again at an age of 2160 seconds',
      'late',
      (track) => aListen(track)([[0, 50]], { sequence: 2, first: 1, age: 36 * 60 }),
    ],
    ['first: must be 0 in a new visit, not 3', 'late', (track) => aListen(track)([[0, 50]], { sequence: 2, first: 3 })],
    [
      'listens.1.track: does not exist, or is not what the session plays',
      'track',
      listenOf({ track: '00011111-1111-4111-8111-111111111111' }),
    ],
  ]
  it.each(bad)('%s: %s', async (message, reason, report) => {
    const { path, sums, track_id, stop, rows } = await aListener()
    const answer = await expectError(400, 'invalid_request', 'POST', path, { body: report(track_id) })
    expect(answer.reason).toBe(reason)
    expect(answer.message).toMatch(/\. The report was not counted; begin a new visit$/)
    expect(answer.message.startsWith(message)).toBe(true)
    const [error, ...others] = answer.errors
    expect([`${error!.path}: ${error!.message}`.startsWith(message), others]).toEqual([true, []])
    await stop()
    expect(await sums()).toEqual({ ...NOTHING, refused: { [reason]: 1 } })
    expect(await rows('segment')).toEqual([{ id: 1, body: `["refused",${today()},"${reason}",1]` }])
  })

  const worse: [message: string, reason: string, (track: string) => Partial<HeardReport>][] = [
    [
      'listens.0: lacks 10 seconds that were reported before',
      'ranges',
      (track) => ({
        listens: [
          { track, ranges: [[0, 20]] },
          { track, ranges: [[0, 50]] },
        ],
      }),
    ],
    ['age: went back from 300 to 200 seconds', 'time', () => ({ age: 200 })],
    ['age: is 700 seconds, but the visit started 300 seconds ago', 'time', () => ({ age: 700 })],
    ['first: went back from 1 to 0', 'visit', () => ({ first: 0 })],
    ['first: is 4, but only 3 listens were reported', 'visit', () => ({ first: 4 })],
    [
      'listens: must have the 2 that were reported from first on, not 1',
      'visit',
      (track) => ({ listens: [{ track, ranges: [[0, 40]] }] }),
    ],
  ]
  it.each(worse)('after another report of its visit: %s: %s', async (message, reason, report) => {
    const { send, path, sums, track_id: track } = await aListener()
    const visit = aVisit()
    const listens = [30, 50].map((until) => ({ track, ranges: [[0, until]] as Ranges }))
    const known = { visit, age: 300, listens }
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    expect(await send(heardReport(track, { ...known, listens: [listens[0]!, ...listens] }))).toBe(204)
    expect(await send(heardReport(track, { ...known, sequence: 2, first: 1 }))).toBe(204)
    const body = heardReport(track, { ...known, sequence: 3, first: 1, ...report(track) })
    const answer = await expectError(400, 'invalid_request', 'POST', path, { body })
    expect(answer).toMatchObject({ reason, message: `${message}. The report was not counted; begin a new visit` })
    expect((await sums()).refused).toEqual({ [reason]: 1 })
  })

  it('if another session sends it, whatever its sequence is, before and after a restart', async () => {
    const { send, sums, track_id, key, collection_id, stop, alarm } = await aListener()
    const next = aListen(track_id)
    const reports = [next([[0, 20]]), next([[0, 40]]), next([[0, 50]])]
    for (const report of reports.slice(0, 2)) expect(await send(report)).toBe(204)
    const { heard_token } = await aPlaySession(key, 'collection', collection_id)
    const path = `/v1/heard/${heard_token}`
    const sendAll = async () => {
      for (const report of reports) {
        const answer = await expectError(400, 'invalid_request', 'POST', path, { body: { ...report, age: 4 } })
        expect(answer).toMatchObject({
          reason: 'visit',
          errors: [{ path: 'visit', message: 'belongs to another session' }],
        })
      }
    }
    await sendAll()
    await stop()
    await sendAll()
    await alarm()
    await stop()
    await sendAll()
    // A repeated report of the session itself is still acknowledged.
    for (const report of reports) expect(await send(report)).toBe(204)
    expect(await sums()).toMatchObject({ visits: 1, tenths: 500, refused: { visit: 9 } })
  })

  it('for a track of another organization, which never gets a row', async () => {
    const foreign = await aTenantWithTrack()
    const { send, sums, track_id, stop, alarm, rows } = await aListener()
    await send(aListen(track_id)([[0, 50]]))
    const listens = [track_id, foreign.track_id].map((track) => ({ track, ranges: [[0, 50]] as Ranges }))
    await send(heardReport(track_id, { age: 100, listens }))
    expect(await sums()).toMatchObject({ visits: 1, tenths: 500, refused: { track: 1 } })
    await stop()
    await alarm()
    expect(JSON.stringify(await rows('day'))).toContain(track_id)
    expect(JSON.stringify([await rows('day'), await rows('segment')])).not.toContain(foreign.track_id)
  })

  it('for another track than that of a session for one track', async () => {
    const { send, sums, track_id, collection_id, key } = await aListener('track')
    const other = await aPlaySession(key, 'collection', collection_id)
    await query('update tracks set id = ? where id = ?', '00022222-2222-4222-8222-222222222222', track_id)
    expect(other.tracks).toHaveLength(1)
    await send(aListen('00022222-2222-4222-8222-222222222222')([[0, 50]]))
    expect(await sums()).toEqual({ ...NOTHING, refused: { track: 1 } })
  })

  it('if it takes back what was heard, changes the track of a listen, or comes from another session', async () => {
    const { send, sums, track_id, key, collection_id } = await aListener()
    const next = aListen(track_id)
    const first = next([[0, 50]])
    await send(first)
    await send(next([[0, 20]]))
    const other = await aReadyTrack(key, collection_id)
    await query('update tracks set duration = 200 where id = ?', other)
    for (const until of [20, 60]) {
      const listens = [{ track: other, ranges: [[0, until]] as Ranges }]
      await send({ ...first, sequence: 9, listens })
    }
    const session = await aPlaySession(key, 'collection', collection_id)
    await call('POST', `/v1/heard/${session.heard_token}`, { body: { ...first, sequence: 10, age: 4 } })
    expect(await sums()).toMatchObject({ visits: 1, tenths: 500, refused: { ranges: 1, visit: 3 } })
  })

  it('for a track of another collection than that of the session, unless the track was moved during the listen', async () => {
    const { send, sums, track_id, collection_id, key, stop } = await aListener()
    const other = await aCollection(key)
    const track = await aReadyTrack(key, other.id)
    const move = (id: string, to: string) => query('update tracks set collection_id = ? where id = ?', to, id)
    await query('update tracks set duration = 200 where id = ?', track)
    await send(aListen(track)([[0, 50]]))
    expect(await sums()).toEqual({ ...NOTHING, refused: { track: 1 } })
    const next = aListen(track_id)
    await send(next([[0, 20]]))
    await move(track, collection_id)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    onTestFinished(() => void vi.useRealTimers())
    await send(aListen(track)([[0, 50]]))
    expect(await sums()).toMatchObject({ visits: 2, tenths: 700, refused: { track: 1 } })
    await move(track_id, other.id)
    // The object reads the track again.
    await stop()
    await send(next([[0, 40]]))
    await send(aListen(track_id)([[0, 50]]))
    expect(await sums()).toMatchObject({ visits: 2, tenths: 900, refused: { track: 2 } })
  })

  it('if its visit was closed: with a report of the same visit it would count twice', async () => {
    const { send, sums, track_id } = await aListener()
    const next = aListen(track_id)
    await send(next([[0, 20]], { age: 30 }))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31 * 60_000 })
    try {
      await send(next([[0, 40]], { age: 31.5 * 60 }))
      expect(await sums()).toMatchObject({ visits: 1, tenths: 200, refused: { late: 1 } })
    } finally {
      vi.useRealTimers()
    }
  })
})

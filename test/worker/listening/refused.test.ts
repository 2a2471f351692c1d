import { env } from 'cloudflare:workers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import type { HeardReport } from '../../../src/contract/heard.ts'
import { aCollection, aPlaySession, call, expectError, query } from '../support/api.ts'
import { aReadyTrack, aTenantWithTrack } from '../support/fixtures.ts'
import { aListen, aListener, aVisit, heardReport, NOTHING, type Ranges, today } from '../support/heard.ts'

/** The plausibility of listening reports (docs/decisions/0102). */

describe('a report is refused, and counted as refused', () => {
  const bad: [string, string, (track: string) => HeardReport][] = [
    [
      'ranges that overlap',
      'ranges',
      (track) =>
        aListen(track)([
          [0, 10],
          [5, 20],
        ]),
    ],
    [
      'ranges out of order',
      'ranges',
      (track) =>
        aListen(track)([
          [20, 30],
          [0, 10],
        ]),
    ],
    ['a range that ends before it starts', 'ranges', (track) => aListen(track)([[20, 10]])],
    ['a range behind the end of the track', 'ranges', (track) => aListen(track)([[190, 260]])],
    ['a part heard twice that was not heard once', 'ranges', (track) => aListen(track)([[0, 10]], {}, [[20, 30]])],
    [
      'more fast seconds than seconds',
      'ranges',
      (track) => heardReport(track, { listens: [{ track, ranges: [[0, 4]], fast: 9 }] }),
    ],
    ['more than twice the time of the visit', 'time', (track) => aListen(track)([[0, 50]], { age: 10 })],
    [
      'more muted seconds than time',
      'time',
      (track) => heardReport(track, { listens: [{ track, ranges: [], muted: 100 }] }),
    ],
    ['a visit that is older than its session', 'time', (track) => aListen(track)([[0, 50]], { age: 86_400 })],
    ['an unknown visit that is old', 'late', (track) => aListen(track)([[0, 50]], { sequence: 2, age: 36 * 60 })],
    ['an unknown visit with earlier listens', 'late', (track) => aListen(track)([[0, 50]], { sequence: 2, first: 1 })],
    ['an unknown track', 'track', () => aListen('00011111-1111-4111-8111-111111111111')([[0, 50]])],
  ]
  it.each(bad)('%s: %s', async (_, reason, report) => {
    const { send, sums, track_id, stop, rows } = await aListener()
    expect(await send(report(track_id))).toBe(400)
    await stop()
    expect(await sums()).toEqual({ ...NOTHING, refused: { [reason]: 1 } })
    expect(await rows('segment')).toEqual([{ id: 1, body: `["refused",${today()},"${reason}",1]` }])
  })

  it('with the reason in words and the next step of the sender', async () => {
    const { path, track_id } = await aListener()
    const answer = await expectError(400, 'invalid_request', 'POST', path, {
      body: aListen(track_id)([[0, 50]], { age: 10 }),
    })
    expect(answer.message).toMatch(/^age is too small for the seconds of the visit.*begin a new visit/)
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
    const listens = [{ track: other, ranges: [[0, 60]] as Ranges }]
    await send({ ...first, sequence: 9, listens })
    const session = await aPlaySession(key, 'collection', collection_id)
    await call('POST', `/v1/heard/${session.heard_token}`, { body: { ...first, sequence: 10, age: 4 } })
    expect(await sums()).toMatchObject({ visits: 1, tenths: 500, refused: { ranges: 1, visit: 2 } })
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

  it('if its visit becomes too large, and the object still folds', async () => {
    const { send, sums, track_id, alarm, rows } = await aListener()
    await query('update tracks set duration = 100000 where id = ?', track_id)
    const visit = aVisit()
    const statuses: number[] = []
    const listen = (at: number) => {
      const start = (index: number) => at * 100 + index * 2
      const ranges = Array.from({ length: 50 }, (_, index) => [start(index) + 0.12345678, start(index) + 0.3456789])
      return { track: track_id, ranges: ranges as Ranges }
    }
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      for (let at = 0; at < 70; at++) {
        vi.setSystemTime(Date.now() + 1000)
        const listens = [listen(2 * at), listen(2 * at + 1)]
        statuses.push(await send(heardReport(track_id, { visit, sequence: at + 1, age: 3000, first: 2 * at, listens })))
      }
      const refused = statuses.filter((status) => status === 400).length
      expect(statuses).toEqual([...Array(70 - refused).fill(204), ...Array(refused).fill(400)])
      expect((await sums()).refused).toEqual({ visit: refused })
      vi.setSystemTime(Date.now() + 600_000)
      await alarm()
    } finally {
      vi.useRealTimers()
    }
    const lengths = (await rows('segment')).map(({ body }) => (body as string).length)
    expect(Math.max(...lengths)).toBeLessThan(100_000)
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

  it('from the 301st new visit of a session in a minute on; it counts once it is sent again', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Math.ceil(Date.now() / 60_000) * 60_000 + 1000 })
    onTestFinished(() => void vi.useRealTimers())
    const { path, sums, track_id } = await aListener()
    const bindings = { ...env, HEARD_RATE_LIMIT: { limit: async () => ({ success: true }) } }
    const reports = Array.from({ length: 320 }, () => aListen(track_id)([[0, 4]]))
    const send = (body: HeardReport) => call('POST', path, { body, bindings })
    const answers = await Promise.all(reports.map(send))
    const refused = reports.filter((_, at) => answers[at]!.status === 429)
    expect(refused).toHaveLength(20)
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(300)
    expect(await sums()).toEqual({ ...NOTHING, visits: 300, tenths: 12_000, refused: { rate: 20 } })
    vi.setSystemTime(Date.now() + 60_000)
    for (const { status } of await Promise.all(refused.map(send))) expect(status).toBe(204)
    expect(await sums()).toMatchObject({ visits: 320, tenths: 12_800 })
  })
})

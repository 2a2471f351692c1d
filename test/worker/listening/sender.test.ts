import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { Heard } from '../../../src/client/playback/heard.ts'
import { aCollection, aPlaySession, call, query } from '../support/api.ts'
import { aReadyTrack } from '../support/fixtures.ts'
import { aListener } from '../support/heard.ts'

/** Reports of `Heard`, which the player uses, to the service. */

const MOTION = { rate: 1, isMuted: false }

/** Plays parts of tracks by the clock of the test, and sends a report whenever one is due. */
async function aPlayer() {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const listener = await aListener()
  let token = listener.session.heard_token
  const heard = new Heard(() => token)
  const statuses: number[] = []
  const clock = () => Date.now() / 1000
  const report = async () => {
    const sent = heard.report(clock())
    if (!sent) return
    const { status } = await call('POST', `/v1/heard/${sent.token}`, { body: JSON.parse(sent.body) as object })
    statuses.push(status)
    if (status === 204) sent.acknowledged()
    else if (status < 500 && status !== 429) sent.refused()
    else sent.failed()
  }
  const play = async (track: string, parts: [number, number][]) => {
    heard.start(clock(), track)
    for (const [from, until] of parts) {
      vi.setSystemTime(Date.now() + (until - from) * 1000)
      heard.add(clock(), from, until, MOTION)
      if (heard.isDue(clock(), false)) await report()
    }
  }
  /** Hides the page, which sends everything without waiting for a response. */
  const hide = async () => {
    let sent = heard.report(clock())
    while (sent) {
      statuses.push((await call('POST', `/v1/heard/${sent.token}`, { body: JSON.parse(sent.body) as object })).status)
      sent.sent()
      sent = sent.rest(clock())
    }
  }
  const renew = async () => {
    token = (await aPlaySession(listener.key, 'collection', listener.collection_id)).heard_token
  }
  return { ...listener, statuses, report, play, hide, renew }
}

describe('the reports of a player', () => {
  it('are counted after a track that does not belong to the session', async () => {
    const { play, track_id, key, sums, statuses } = await aPlayer()
    const other = await aReadyTrack(key, (await aCollection(key)).id)
    await query('update tracks set duration = 200 where id = ?', other)
    const seconds = (from: number, until: number) =>
      Array.from({ length: until - from }, (_, at): [number, number] => [from + at, from + at + 1])
    await play(track_id, seconds(0, 60))
    await play(other, seconds(0, 200))
    for (let times = 0; times < 20; times++) await play(track_id, seconds(0, 100))
    const { tenths, refused } = await sums()
    // The seconds since the report before the other track are lost, but all later ones are counted.
    expect(refused).toEqual({ track: statuses.filter((status) => status === 400).length })
    expect(refused.track).toBeLessThanOrEqual(2)
    expect(tenths).toBeGreaterThan(10_000)
  })

  it('are all counted for 150 listens of forty parts each', async () => {
    const { play, report, track_id, sums, statuses } = await aPlayer()
    await query('update tracks set duration = 100000 where id = ?', track_id)
    for (let listen = 0; listen < 150; listen++) {
      const start = (part: number) => 10_000 + listen * 500 + part * 12
      await play(
        track_id,
        Array.from({ length: 40 }, (_, part) => [start(part), start(part) + 1]),
      )
    }
    for (let rest = 0; rest < 20; rest++) await report()
    const { tenths, refused } = await sums()
    expect({ tenths, refused }).toEqual({ tenths: 150 * 40 * 10, refused: {} })
    expect(new Set(statuses)).toEqual(new Set([204]))
  })

  it('are counted if playback continues after half an hour in a session that was renewed', async () => {
    const { play, renew, report, track_id, sums, statuses } = await aPlayer()
    await play(track_id, [[0, 20]])
    vi.setSystemTime(Date.now() + 30 * 60_000)
    await renew()
    await play(track_id, [
      [20, 30],
      [30, 60],
    ])
    await report()
    expect(statuses).toEqual([204, 204])
    expect(await sums()).toMatchObject({ visits: 1, tenths: 600, refused: {} })
  })

  it('are all accepted if the page is hidden during each of 60 tracks', async () => {
    const { play, hide, track_id, sums, statuses } = await aPlayer()
    for (let listen = 0; listen < 60; listen++) {
      await play(track_id, [[0, 100]])
      await hide()
      await play(track_id, [[100, 200]])
    }
    expect(new Set(statuses)).toEqual(new Set([204]))
    expect((await sums()).refused).toEqual({})
  })
})

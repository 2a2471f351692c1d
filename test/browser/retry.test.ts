import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import type { Failure } from '../../src/client/index.ts'
import { backoff, poll, retry, sleep } from '../../src/client/retry.ts'
import { createSerialQueue } from '../../src/client/upload/session.ts'

/** Waiting, retrying, and running tasks in sequence. */

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const failure = (status: number, code: Failure['code'] = 'network'): Failure => ({
  ok: false,
  message: '',
  status,
  code,
})

describe('sleep', () => {
  test('ends after the delay and resolves to true', async () => {
    const slept = sleep(1000)
    await vi.advanceTimersByTimeAsync(999)
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await slept).toBe(true)
  })
  test('does not end at once if the delay is longer than a timer can be', async () => {
    const end = new AbortController()
    const slept = sleep(2 ** 31, end.signal)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(vi.getTimerCount()).toBe(1)
    end.abort()
    expect(await slept).toBe(false)
  })
  test('resolves to true when woken and to false when aborted', async () => {
    const [end, wake] = [new AbortController(), new AbortController()]
    const woken = sleep(1000, end.signal, { wake: wake.signal })
    wake.abort()
    expect(await woken).toBe(true)
    const ended = sleep(1000, end.signal)
    end.abort()
    expect([await ended, await sleep(1000, end.signal)]).toEqual([false, false])
    expect(vi.getTimerCount()).toBe(0)
  })
  test('ends when the network is back, and removes its event listener', async () => {
    const network = new EventTarget()
    const removed = vi.spyOn(network, 'removeEventListener')
    for (const name of ['addEventListener', 'removeEventListener'] as const)
      vi.stubGlobal(name, network[name].bind(network))
    const slept = sleep(1000, undefined, { online: true })
    network.dispatchEvent(new Event('online'))
    expect(await slept).toBe(true)
    expect([vi.getTimerCount(), removed.mock.calls.length]).toEqual([0, 1])
    vi.unstubAllGlobals()
  })
})

test('backoff grows up to the maximum delay, with jitter', () => {
  const steps = { first: 1000, factor: 2, longest: 5000 }
  expect([0, 1, 2, 3, 9].map((attempt) => backoff(attempt, steps))).toEqual([1000, 2000, 4000, 5000, 5000])
  const random = Array.from({ length: 200 }, () => backoff(0, { ...steps, jitter: 0.25 }))
  expect(Math.min(...random)).toBeGreaterThanOrEqual(750)
  expect(Math.max(...random)).toBeLessThanOrEqual(1250)
  expect(new Set(random).size).toBeGreaterThan(100)
})

test('retry repeats a call until its result is final, and returns that result', async () => {
  const times: number[] = []
  const done = retry(
    async (attempt) => {
      times.push(Date.now())
      return attempt
    },
    (answer) => (answer < 2 ? 100 * (answer + 1) : null),
  )
  await vi.runAllTimersAsync()
  expect(await done).toBe(2)
  expect(times.map((time) => time - times[0]!)).toEqual([0, 100, 300])
})

describe('poll', () => {
  const ready = { ok: true as const, status: 'ready' }
  const busy = { ok: true as const, status: 'processing' }
  const asking = (...answers: (typeof ready | Failure)[]) => {
    let polls = 0
    return vi.fn(async () => answers[Math.min(polls++, answers.length - 1)]!)
  }
  const isLast = ({ status }: typeof ready) => status === 'ready'

  test('repeats the request with growing delays until the state is final', async () => {
    const ask = asking(busy, busy, busy, ready)
    const answer = poll(ask, isLast, { pace: { first: 500, factor: 2, longest: 1500 } })
    const startedAt = Date.now()
    await vi.runAllTimersAsync()
    expect(await answer).toEqual(ready)
    expect([ask.mock.calls.length, Date.now() - startedAt]).toEqual([4, 500 + 1000 + 1500])
  })
  test('tolerates temporary failures, but not too many in a row', async () => {
    const some = poll(asking(failure(0), failure(503), busy, failure(0), failure(0), ready), isLast, { maxFailures: 2 })
    const many = poll(asking(failure(0)), isLast, { maxFailures: 2 })
    await vi.runAllTimersAsync()
    expect([await some, await many]).toEqual([ready, failure(0)])
  })
  test('ends on an error response, on a full database and on the abort signal', async () => {
    for (const last of [failure(404, 'not_found'), failure(507, 'storage_full')])
      expect(await poll(asking(last), isLast)).toEqual(last)
    const end = new AbortController()
    const ask = asking(busy)
    const answer = poll(ask, isLast, { signal: end.signal })
    await vi.advanceTimersByTimeAsync(100)
    end.abort()
    expect(await answer).toMatchObject({ ok: false, code: 'aborted' })
    expect([ask.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0])
  })
  test('waits at least the minimum delay, which leaves room for other polls', async () => {
    const startedAt = Date.now()
    const answer = poll(asking(busy, ready), isLast, { minDelay: () => 3000 })
    await vi.runAllTimersAsync()
    await answer
    expect(Date.now() - startedAt).toBe(3000)
  })
})

test('a serial queue runs tasks one by one in order, even if one fails', async () => {
  const inOrder = createSerialQueue()
  const started: number[] = []
  let [running, most] = [0, 0]
  const work = (name: number) =>
    inOrder(async () => {
      started.push(name)
      most = Math.max(most, ++running)
      await sleep(10)
      running--
      if (name === 2) throw new Error('fails')
      return name
    }).catch(() => 'failed')
  const all = Promise.all([1, 2, 3].map(work))
  await vi.runAllTimersAsync()
  expect({ answers: await all, started, most }).toEqual({ answers: [1, 'failed', 3], started: [1, 2, 3], most: 1 })
})

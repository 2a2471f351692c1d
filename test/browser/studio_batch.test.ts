import { afterEach, expect, test, vi } from 'vitest'

import { createClient } from '../../src/client/index.ts'
import type { TrackChange } from '../../src/contract/track_batch.ts'
import { changesBack, inRequests, type Progress, runBatch } from '../../src/studio/data/batch.ts'

/** Tests batches of changes against a service that answers as each test says. */

interface Received {
  changes: TrackChange[]
  key: string
}

/** A client whose service keeps the requests, and answers each with the result of `answer`. */
function aService(
  answer: (changes: TrackChange[], at: number) => [status: number, body: object, headers?: HeadersInit],
) {
  const received: Received[] = []
  const client = createClient({
    base_url: 'https://a.test',
    async fetch(_, init) {
      const { changes } = JSON.parse(init!.body as string) as Received
      received.push({ changes, key: new Headers(init!.headers).get('idempotency-key') ?? '' })
      const [status, body, headers] = answer(changes, received.length)
      return new Response(JSON.stringify(body), { status, ...(headers && { headers }) })
    },
  })
  return { client, received }
}
const accepted = (changes: TrackChange[], refused: string[] = []) => ({
  ok: true,
  done: changes.filter(({ track_id }) => !refused.includes(track_id)).length,
  refused: changes.filter(({ track_id }) => refused.includes(track_id)).length,
  results: changes.map(({ track_id, action }) =>
    refused.includes(track_id)
      ? { track_id, action, ok: false, code: 'not_found', message: 'No such track' }
      : { track_id, action, ok: true, ...(action === 'move' && { moved_from: { collection_id: 'c', order: 4 } }) },
  ),
})
const deletions = (count: number): TrackChange[] =>
  Array.from({ length: count }, (_, at) => ({ action: 'delete', track_id: `${at}`, trash: true }))

const shown: Progress[] = []
const run = (client: ReturnType<typeof createClient>, changes: TrackChange[], signal = new AbortController().signal) =>
  runBatch(client, inRequests(changes), { signal, onProgress: (progress) => shown.push(progress) })

afterEach(() => {
  shown.length = 0
  vi.useRealTimers()
})

test('many changes need a request for 200 of them, and each refusal is reported', async () => {
  const { client, received } = aService((changes) => [200, accepted(changes, ['3', '420'])])
  const outcome = await run(client, deletions(450))
  expect(received.map(({ changes }) => changes.length)).toEqual([200, 200, 50])
  expect([outcome.done, outcome.refused.map(({ change }) => change.track_id)]).toEqual([448, ['3', '420']])
})

test('the changes back have the same tracks in each request, the last request first', async () => {
  const { client } = aService((changes) => [200, accepted(changes, ['1'])])
  const back = changesBack(await run(client, deletions(201)))
  expect(back.map((changes) => changes.length)).toEqual([1, 199])
  expect(back[0]).toEqual([{ action: 'restore', track_id: '200' }])
  const moves: TrackChange[] = [{ action: 'move', track_id: '7', collection_id: 'd' }]
  expect(changesBack(await run(client, moves))).toEqual([
    [{ action: 'move', track_id: '7', collection_id: 'c', order: 4 }],
  ])
  expect(changesBack(await run(client, [{ action: 'reprocess', track_id: '7' }]))).toEqual([])
})

test('over the rate limit, the same request is sent again after a while', async () => {
  vi.useFakeTimers()
  const { client, received } = aService((changes, at) =>
    at < 3
      ? [429, { ok: false, code: 'rate_limited', message: 'Too many' }, { 'retry-after': '30' }]
      : [200, accepted(changes)],
  )
  const running = run(client, deletions(2))
  await vi.advanceTimersByTimeAsync(20_000)
  expect((await running).done).toBe(2)
  expect(new Set(received.map(({ key }) => key)).size).toBe(1)
  expect(shown.map(({ waits }) => waits)).toContain('busy')
})

test('a revoked key refuses the remaining changes without further requests', async () => {
  const { client, received } = aService((changes, at) =>
    at === 1 ? [200, accepted(changes)] : [401, { ok: false, code: 'unauthorized', message: 'Revoked' }],
  )
  const outcome = await run(client, deletions(600))
  expect([received.length, outcome.done, outcome.refused.length]).toEqual([2, 200, 400])
})

test('after a stop, the remaining changes are neither done nor refused', async () => {
  const controller = new AbortController()
  const { client } = aService((changes) => {
    controller.abort()
    return [200, accepted(changes)]
  })
  const { done, refused } = await run(client, deletions(600), controller.signal)
  expect([done <= 200, refused]).toEqual([true, []])
})

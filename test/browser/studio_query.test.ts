import { afterEach, expect, test } from 'vitest'

import type { Failure } from '../../src/client/index.ts'
import { clearQueries, fetchQuery, invalidate, QueryState, type LoadContext } from '../../src/studio/data/query.ts'

/** Tests the query layer of the studio without a browser. */

interface Answer {
  ok: true
  n: number
}

const failure = (status: number): Failure => ({ ok: false, code: 'internal', message: 'No', status })

/** A query whose reads wait until the test resolves them. */
function aQuery() {
  const reads: (LoadContext<Answer> & { end: (result: number | Failure) => void })[] = []
  const query = new QueryState<Answer>(
    (read) =>
      new Promise((resolve) => {
        const end = (result: number | Failure) => resolve(typeof result === 'number' ? { ok: true, n: result } : result)
        reads.push({ ...read, end })
      }),
  )
  return { query, reads }
}

afterEach(clearQueries)

test('a late response does not replace a newer one, and its request is aborted', async () => {
  const { query, reads } = aQuery()
  const all = [query.reload(), query.reload()]
  reads[1]!.end(2)
  await all[1]
  reads[0]!.end(1)
  await all[0]
  expect(query.answer?.n).toBe(2)
  expect(reads.map(({ signal }) => signal.aborted)).toEqual([true, false])
})

test('a change that is set during a read replaces the answer of that read', async () => {
  const { query, reads } = aQuery()
  const reading = query.reload()
  query.set({ ok: true, n: 7 })
  reads[0]!.end(1)
  await reading
  expect(query.answer?.n).toBe(7)
})

test('a failed read keeps the answer, unless the resource no longer exists', async () => {
  const { query, reads } = aQuery()
  const read = async (result: number | Failure) => {
    const reading = query.reload()
    reads.at(-1)!.end(result)
    await reading
    return [query.answer?.n, query.problem?.status]
  }
  expect(await read(1)).toEqual([1, undefined])
  expect(await read(failure(503))).toEqual([1, 503])
  expect(await read(2)).toEqual([2, undefined])
  expect(await read(failure(404))).toEqual([undefined, 404])
})

test('a reload does not interrupt the request for more', async () => {
  const { query, reads } = aQuery()
  query.set({ ok: true, n: 1 })
  const all = [query.more(), query.reload()]
  expect(reads).toMatchObject([{ isMore: true, previous: { n: 1 } }])
  reads[0]!.end(2)
  await Promise.all(all)
  expect(query.answer?.n).toBe(2)
})

test('each page of the first read is shown; a later read is shown when it is complete', async () => {
  const shown: (number | undefined)[] = []
  let from = 1
  const query = new QueryState<Answer>(async function* () {
    for (const n of [from, from + 1]) yield { ok: true as const, n }
  })
  query.watchers.add(() => shown.push(query.answer?.n))
  await query.reload()
  from = 5
  await query.reload()
  expect(shown).toEqual([1, 2, 6])
})

test('a kept answer is read again only for another version or after an invalidation', async () => {
  let count = 0
  const read = async (version: string) => {
    const load = async () => ({ ok: true as const, n: ++count })
    const answer = await fetchQuery<Answer>({ key: ['view', 'a'], isKept: true, version, load })
    return answer.ok && answer.n
  }
  expect(await Promise.all([read('processing'), read('processing')])).toEqual([1, 1])
  expect([await read('ready'), await read('ready')]).toEqual([2, 2])
  invalidate('view', 'b')
  expect(await read('ready')).toBe(2)
  invalidate('view')
  expect(await read('ready')).toBe(3)
})

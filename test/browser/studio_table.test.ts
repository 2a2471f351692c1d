import { describe, expect, test } from 'vitest'

import { missingPages, refreshed, withPage } from '../../src/studio/data/rows.ts'
import { cardSize } from '../../src/studio/features/library/card_size.ts'
import { rangeOf as resultRange } from '../../src/studio/features/search/use_found.ts'
import { ordersFor } from '../../src/studio/features/track_table/move_in_order.ts'
import { isSelected, nothing, sizeOf, withoutRows, withRows } from '../../src/studio/features/track_table/selection.ts'
import { rangeOf } from '../../src/studio/ui/lists/window.ts'

/** Tests the logic of the studio's tables without a browser. */

const row = (n: number) => ({ id: `${n}` })
const rowsFrom = (from: number, count: number) => Array.from({ length: count }, (_, at) => row(from + at))
const page = (from: number, size: number, count: number, isCapped = false) => ({
  ok: true as const,
  entries: rowsFrom(from, size),
  count,
  isCapped,
})

describe('the rows of a long list', () => {
  test('keep their places when only some pages are read', () => {
    const first = withPage<{ id: string }>([], 0, 100, page(0, 100, 10_000))
    const rows = withPage(first, 5000, 100, page(5000, 100, 10_000))
    expect([rows.length, rows[99]?.id, rows[100], rows[5000]?.id]).toEqual([10_000, '99', undefined, '5000'])
    expect(missingPages(rows, 90, 120)).toEqual([100])
    expect(missingPages(rows, 4990, 5110)).toEqual([4900, 5100])
    expect(missingPages(rows, 9990, 10_050)).toEqual([9900])
  })

  test('are forgotten far from the last page, so that the memory does not grow', () => {
    let rows = withPage<{ id: string }>([], 0, 100, page(0, 100, 10_000))
    for (let offset = 100; offset < 5000; offset += 100) rows = withPage(rows, offset, 100, page(offset, 100, 10_000))
    expect(rows.filter(Boolean).length).toBeLessThanOrEqual(1200)
    expect([rows[0], rows[4999]?.id]).toEqual([undefined, '4999'])
  })

  test('end at the first page that is not full if the count is not exact', () => {
    const first = withPage<{ id: string }>([], 0, 100, page(0, 100, 1000, true))
    expect(first).toHaveLength(1000)
    const more = withPage(first, 900, 100, page(900, 100, 1000, true))
    expect(more).toHaveLength(1100)
    expect(withPage(more, 1000, 100, page(1000, 20, 1000, true))).toHaveLength(1020)
  })

  test('are read again as a whole if their order or number has changed', () => {
    const rows = withPage<{ id: string }>([], 0, 100, page(0, 100, 300))
    expect(refreshed(rows, 10, 20, page(10, 20, 300))[99]?.id).toBe('99')
    expect(refreshed(rows, 10, 20, page(11, 20, 300))[99]).toBeUndefined()
    expect(refreshed(rows, 10, 20, page(10, 20, 301))[99]).toBeUndefined()
  })
})

test('the rendered rows are those in the window, with some more', () => {
  expect(rangeOf(300, 900, 48, 10_000)).toEqual([0, 24])
  expect(rangeOf(-240_000, 900, 48, 10_000)).toEqual([4992, 5028])
  expect(rangeOf(-480_000, 900, 48, 10_000)).toEqual([9992, 10_000])
  expect(rangeOf(0, 900, 48, 3)).toEqual([0, 3])
  expect(rangeOf(-3000, 900, 300, 60, 1)).toEqual([8, 15])
  // After a jump, only the visible ones.
  expect(rangeOf(-240_000, 900, 48, 10_000, 1, 0)).toEqual([5000, 5019])
})

test('cards fill the width of the page, with two columns on a phone, and a list has one', () => {
  expect(cardSize(1016, false)).toEqual({ columns: 4, height: 239 + 80 })
  expect(cardSize(343, false)).toEqual({ columns: 2, height: 165 + 80 })
  expect(cardSize(1016, true)).toEqual({ columns: 1, height: 60 })
  // Before the width is known.
  expect(cardSize(0, false).columns).toBe(2)
})

test('a search shows one page at first, all results that were shown after going back, and adds a page', () => {
  expect(resultRange(0, 20, false)).toEqual({ offset: 0, limit: 20 })
  expect(resultRange(60, 20, false)).toEqual({ offset: 0, limit: 60 })
  expect(resultRange(900, 20, false)).toEqual({ offset: 0, limit: 200 })
  expect(resultRange(20, 20, true)).toEqual({ offset: 20, limit: 20 })
})

test('a move over many places is requested in orders of consecutive places', () => {
  const apply = (start: string[], orders: string[][]) =>
    orders.reduce((list, order) => {
      const places = order.map((id) => list.indexOf(id)).toSorted((a, b) => a - b)
      expect(places.at(-1)! - places[0]! + 1).toBe(places.length)
      const next = [...list]
      for (const [at, place] of places.entries()) next[place] = order[at]!
      return next
    }, start)
  const ids = 'abcdefgh'.split('')
  expect(apply(ids, ordersFor(ids, true, 4))).toEqual([...ids.slice(1), 'a'])
  expect(apply(ids, ordersFor(ids, false, 4))).toEqual(['h', ...ids.slice(0, -1)])
  expect(ordersFor(ids, true, 4).every((order) => order.length <= 4)).toBe(true)
})

test('a selection of everything excludes the rows that are picked again', () => {
  const some = withRows(nothing<{ id: string }>(), rowsFrom(1, 3), true)
  expect([sizeOf(some, 10), isSelected(some, '2'), isSelected(some, '9')]).toEqual([3, true, false])
  const all = withRows({ isAll: true, rows: new Map() }, [row(2)], false)
  expect([sizeOf(all, 10), isSelected(all, '2'), isSelected(all, '9')]).toEqual([9, false, true])
  expect(sizeOf(withRows(all, [row(2)], true), 10)).toBe(10)
  expect(sizeOf(withoutRows(some, new Set(['1', '7'])), 10)).toBe(2)
})

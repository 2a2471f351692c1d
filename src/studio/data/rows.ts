import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks'

import { MAX_PAGE } from '../../contract/facts.ts'
import type { Failure } from '../base/api.ts'
import { invalidate, useQuery } from './query.ts'

/**
 * Long lists, of which only the pages near the visible rows are read. The other rows are holes in a sparse array, so that every row keeps its
 * place (docs/decisions/0085).
 */

/** The number of rows of a page. */
export const PAGE = 100
/** Milliseconds without scrolling after which missing pages are read, and after which they are read although the user still scrolls. */
const SETTLED = 60
const LONGEST = 450
/** Milliseconds between two reads of the visible rows while a row changes by itself. */
const PERIOD = 1200
/** With more rows than this, those that are farther than this from the last page are forgotten. */
const KEPT = 1000
/** The number of lists that are kept for the way back. */
const LISTS = 4

export interface PageRead {
  offset: number
  limit: number
  signal: AbortSignal
}
export interface ReadPage<T> {
  ok: true
  entries: T[]
  count: number
  isCapped: boolean
}

interface PageOfRows<T> {
  ok: true
  rows: readonly (T | undefined)[]
  isCapped: boolean
}

/** The rows that a component shows: the range from which missing pages are read, and the offsets that are being read. */
interface View {
  from: number
  to: number
  reading: readonly number[]
}

/** The views of the lists that were shown last, by key, the latest at the end. */
const views = new Map<string, View>()

function viewOf(key: readonly unknown[]): View {
  const id = JSON.stringify(key)
  const view = views.get(id) ?? { from: 0, to: PAGE, reading: [] }
  views.delete(id)
  views.set(id, view)
  for (const old of [...views.keys()].slice(0, -LISTS)) {
    views.delete(old)
    invalidate(...(JSON.parse(old) as unknown[]))
  }
  return view
}

/** Returns the offsets of the pages in a range of rows that are not fully loaded. */
export function missingPages(rows: readonly unknown[], from: number, to: number): number[] {
  const offsets = new Set<number>()
  for (let at = Math.max(0, from); at < Math.min(to, rows.length); at++) {
    if (rows[at] === undefined) offsets.add(at - (at % PAGE))
  }
  return [...offsets]
}

/** Returns the rows with a page of them. If the count is not exact, the list ends with its first page that is not full. */
export function withPage<T>(rows: readonly (T | undefined)[], offset: number, limit: number, page: ReadPage<T>) {
  const { entries, count, isCapped } = page
  const end = offset + entries.length
  const isLast = entries.length < limit
  const length = !isCapped
    ? count
    : isLast
      ? Math.min(end, Math.max(rows.length, end))
      : Math.max(rows.length, count, end + PAGE)
  const loaded = rows.reduce((sum: number, row) => sum + (row === undefined ? 0 : 1), 0)
  const isNear = (at: number) => loaded < KEPT || Math.abs(at - offset) < KEPT / 2
  return Array.from({ length }, (_, at) =>
    at >= offset && at < end ? entries[at - offset] : isNear(at) ? rows[at] : undefined,
  )
}

/** Returns the rows after the visible ones were read again. If their number or their order has changed, the others are forgotten. */
export function refreshed<T extends { id: string }>(
  rows: readonly (T | undefined)[],
  offset: number,
  limit: number,
  page: ReadPage<T>,
) {
  const isSame =
    (page.isCapped || rows.length === page.count) &&
    page.entries.every(({ id }, at) => (rows[offset + at]?.id ?? id) === id)
  return withPage(isSame ? rows : [], offset, limit, page)
}

interface Timing {
  timer: ReturnType<typeof setTimeout> | undefined
  /** When the last read of missing pages started. */
  last: number
}

interface Options<T> {
  key: readonly unknown[]
  read: (page: PageRead) => Promise<ReadPage<T> | Failure>
  /** Whether a row changes by itself. While there is one, the visible rows are read again and again. */
  isChanging: (row: T) => boolean
}

/** Reads the rows of a list that are shown (`show`), and keeps them for the way back. */
export function useRows<T extends { id: string }>({ key, read, isChanging }: Options<T>) {
  const view = useMemo(() => viewOf(key), [JSON.stringify(key)])
  /** The changes that are being saved. A read waits for them, because it would show the earlier state. */
  const saved = useRef<Promise<unknown>>(Promise.resolve())
  const timing = useRef<Timing>({ timer: undefined, last: 0 })
  const { answer, problem, more, reload, update } = useQuery<PageOfRows<T>>({
    key,
    isKept: true,
    showsPrevious: true,
    async load(state) {
      await saved.current
      const before = state.previous
      const offset = before ? Math.min(view.from, Math.max(0, before.rows.length - 1)) : view.from
      const first = { offset, limit: Math.min(MAX_PAGE, Math.max(1, view.to - offset)) }
      const isMore = state.isMore && before !== undefined
      const ranges = isMore
        ? missingPages(before.rows, view.from, view.to).map((offset) => ({ offset, limit: PAGE }))
        : [first]
      const reading = ranges.map(({ offset }) => offset)
      if (isMore) view.reading = reading
      const pages = await Promise.all(ranges.map((range) => read({ ...range, signal: state.signal })))
      if (view.reading === reading) view.reading = []
      const merge = isMore ? withPage : refreshed
      let { rows, isCapped } = state.previous ?? { rows: [], isCapped: false }
      for (const [at, page] of pages.entries()) {
        if (!page.ok) return page
        rows = merge(rows, ranges[at]!.offset, ranges[at]!.limit, page)
        isCapped = page.isCapped
      }
      return { ok: true, rows, isCapped }
    },
    every: ({ rows }) => (rows.some((row) => row && isChanging(row)) ? PERIOD : null),
  })
  const latest = useRef(answer)
  latest.current = answer
  const show = useCallback(
    (from: number, to: number) => {
      Object.assign(view, { from, to })
      const { current: rows } = latest
      clearTimeout(timing.current.timer)
      const offsets = missingPages(rows?.rows ?? [], from, to)
      if (offsets.every((offset) => view.reading.includes(offset))) return
      const isLate = Date.now() - timing.current.last > LONGEST
      timing.current.timer = setTimeout(
        () => {
          timing.current.last = Date.now()
          void more()
        },
        isLate ? 0 : SETTLED,
      )
    },
    [view, more],
  )
  useEffect(() => () => clearTimeout(timing.current.timer), [view])
  const change = useCallback(
    (edit: (rows: readonly (T | undefined)[]) => readonly (T | undefined)[]) =>
      update((all) => ({ ...all, rows: edit(all.rows) })),
    [update],
  )
  /** Saves a change after the earlier ones. */
  const save = useCallback(<R>(work: () => Promise<R>): Promise<R> => {
    const saving = saved.current.then(work)
    saved.current = saving.catch(() => {})
    return saving
  }, [])
  return {
    rows: answer?.rows ?? NO_ROWS,
    isCapped: answer?.isCapped ?? false,
    loading: !answer && !problem,
    problem,
    show,
    change,
    save,
    /** Reads the missing pages again after a failure. */
    retry: more,
    reload: useCallback(() => void reload(), [reload]),
  }
}
const NO_ROWS: readonly undefined[] = []

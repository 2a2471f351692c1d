import { MAX_PAGE } from '../../../contract/facts.ts'
import type { Failure } from '../../base/api.ts'
import { type LoadContext, useQuery } from '../../data/query.ts'

/** A page of a list of the API. */
interface Page<T> {
  entries: T[]
  count: number
  is_count_exact?: false | undefined
  suggestion?: string | null | undefined
}

export interface Found<T> {
  ok: true
  entries: T[]
  count: number
  isCapped: boolean
  /** A corrected search, if nothing was found. */
  suggestion: string | null
}

interface Range {
  offset: number
  limit: number
}

/** Reads the results of one kind, `size` at first and with each call of `more`. All that were shown are read again after going back. */
export function useFound<T>(
  kind: string,
  q: string,
  size: number,
  read: (range: Range & { signal: AbortSignal }) => Promise<({ ok: true } & Page<T>) | Failure>,
) {
  const query = useQuery<Found<T>>(
    q === ''
      ? null
      : {
          key: ['search', kind, q],
          isKept: true,
          showsPrevious: true,
          async load({ previous, isMore, signal }: LoadContext<Found<T>>) {
            const before = previous?.entries ?? []
            const answer = await read({ ...rangeOf(before.length, size, isMore), signal })
            if (!answer.ok) return answer
            const { entries, count, is_count_exact, suggestion = null } = answer
            return {
              ok: true,
              entries: isMore ? [...before, ...entries] : entries,
              count,
              isCapped: is_count_exact === false,
              suggestion,
            }
          },
        },
  )
  const { answer, problem, isPrevious, more, reload } = query
  return {
    kind,
    entries: answer?.entries ?? [],
    count: answer?.count ?? 0,
    isCapped: answer?.isCapped ?? false,
    suggestion: answer?.suggestion ?? null,
    isDone: answer !== undefined && !isPrevious,
    hasMore: answer !== undefined && answer.entries.length < answer.count,
    problem,
    more,
    reload,
  }
}

/** Returns the range to read when some results are shown. */
export const rangeOf = (shown: number, size: number, isMore: boolean): Range =>
  isMore ? { offset: shown, limit: size } : { offset: 0, limit: Math.min(MAX_PAGE, Math.max(size, shown)) }

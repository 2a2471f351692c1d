import { type Arguments, type ListPath, type OperationAt, pages, type Success } from '../../client/client.ts'
import type { Failure } from '../base/api.ts'
import { useClient } from './connection.ts'
import { useQuery } from './query.ts'

type Get<P extends ListPath> = OperationAt<'get', P>

interface Entries<T> {
  ok: true
  entries: T[]
  count: number
  /** Whether there may be more entries than `count`. */
  isCapped: boolean
}

export interface List<T> {
  entries: T[]
  count: number
  isCapped: boolean
  /** True until the first page of the current request has arrived. */
  loading: boolean
  problem: Failure | undefined
  /** Shows a change before the service confirms it. */
  set: (entries: T[]) => void
  reload: () => void
}

/** Reads all entries of a list, and shows each page when it arrives. */
export function useList<P extends ListPath, T>(
  path: P,
  entriesOf: (page: Success<Get<P>>) => T[],
  options?: Arguments<Get<P>>,
): List<T> {
  const client = useClient()
  const { answer, problem, set, reload, isPrevious } = useQuery<Entries<T>>({
    key: [path, options],
    showsPrevious: true,
    async *load({ signal }) {
      const entries: T[] = []
      for await (const result of pages(client, path, { ...options, signal } as Arguments<Get<P>>)) {
        const page = result as Success<Get<P>> | Failure
        if (!page.ok) return yield page
        entries.push(...entriesOf(page))
        const { count, is_count_exact } = page as unknown as { count: number; is_count_exact?: false }
        yield { ok: true, entries: [...entries], count, isCapped: is_count_exact === false }
      }
    },
  })
  const { entries = [], count = 0, isCapped = false } = answer ?? {}
  return {
    entries,
    count,
    isCapped,
    loading: !problem && (!answer || isPrevious),
    problem,
    set: (entries) => set({ ok: true, entries, count, isCapped }),
    reload: () => void reload(),
  }
}

interface Page<T, C> {
  ok: true
  entries: T[]
  /** Where the next page starts; null at the end. */
  next: C | null
}

/** Reads the first page of a list, and the next page with `more`. */
export function usePages<T, C>(key: readonly unknown[], load: (from: C | undefined) => Promise<Page<T, C> | Failure>) {
  const { answer, problem, reload, more } = useQuery<Page<T, C>>({
    key,
    async load({ previous, isMore }) {
      const page = await load(isMore ? (previous?.next ?? undefined) : undefined)
      return page.ok && isMore ? { ...page, entries: [...(previous?.entries ?? []), ...page.entries] } : page
    },
  })
  return {
    entries: answer?.entries ?? [],
    loading: !answer && !problem,
    problem,
    hasMore: answer !== undefined && answer.next !== null,
    more,
    reload,
  }
}

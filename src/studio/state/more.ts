import { useEffect, useRef, useState } from 'preact/hooks'

import type { Failure } from '../api.ts'

interface Page<T, C> {
  ok: true
  entries: T[]
  /** Where to go on; null at the end. */
  next: C | null
}

/** A list that is shown as far as somebody wants to see: newest first, and `more` goes on. */
export function useMore<T, C>(load: (from: C | undefined) => Promise<Page<T, C> | Failure>, deps: unknown[]) {
  const [page, setPage] = useState<Page<T, C>>()
  const [problem, setProblem] = useState<Failure>()
  const turn = useRef(0)
  /** The turn that brings what was asked for beyond: a list that is looked at again meanwhile would lose it. */
  const going = useRef(0)
  async function read(known: Page<T, C> | undefined) {
    const mine = ++turn.current
    going.current = known ? mine : 0
    const answer = await load(known?.next ?? undefined)
    if (mine !== turn.current) return
    going.current = 0
    setProblem(answer.ok ? undefined : answer)
    if (answer.ok) setPage({ ...answer, entries: [...(known?.entries ?? []), ...answer.entries] })
  }
  useEffect(() => {
    setPage(undefined)
    void read(undefined)
    return () => void turn.current++
  }, deps)
  return {
    entries: page?.entries ?? [],
    loading: !page && !problem,
    problem,
    hasMore: page !== undefined && page.next !== null,
    more: () => read(page),
    reload: async () => {
      if (going.current !== turn.current) await read(undefined)
    },
  }
}

import { useEffect, useState } from 'preact/hooks'

import { type ListPath, pages } from '../../client/index.ts'
import type { OperationAt, Success } from '../../client/types.ts'
import type { Failure } from '../api.ts'
import { useClient } from './client.ts'

type PageOf<P extends ListPath> = Success<OperationAt<'get', P>>
/** Lists that need nothing in their path. */
type PlainPath = '/v1/collection' | '/v1/playlist' | '/v1/api_key' | '/v1/variant'

interface All<T> {
  entries: T[]
  count: number
  /** Until the first page is here. */
  loading: boolean
  problem: Failure | undefined
  reload: () => void
}

/** Everything of a list, shown page after page as it arrives. */
export function useAll<P extends PlainPath, T>(path: P, entriesOf: (page: PageOf<P>) => T[]): All<T> {
  const client = useClient()
  const [entries, setEntries] = useState<T[]>([])
  const [count, setCount] = useState(0)
  const [loading, setLoading] = useState(true)
  const [problem, setProblem] = useState<Failure>()
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    let current = true
    setProblem(undefined)
    void (async () => {
      const all: T[] = []
      for await (const answer of pages(client, path)) {
        if (!current) return
        const page = answer as PageOf<P> | Failure
        if (page.ok) {
          all.push(...entriesOf(page))
          setEntries([...all])
          setCount((page as unknown as { count: number }).count)
        } else {
          setProblem(page)
        }
        setLoading(false)
      }
    })()
    return () => {
      current = false
    }
  }, [client, path, turn])
  return { entries, count, loading, problem, reload: () => setTurn((n) => n + 1) }
}

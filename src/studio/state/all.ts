import { useEffect, useState } from 'preact/hooks'

import { type Arguments, type ListPath, type OperationAt, pages, type Success } from '../../client/client.ts'
import type { Failure } from '../api.ts'
import { useClient } from './client.ts'

type Get<P extends ListPath> = OperationAt<'get', P>

export interface All<T> {
  entries: T[]
  count: number
  /** Whether there may be more than `count`. */
  more: boolean
  /** Until the first page of what is asked for is here. */
  loading: boolean
  problem: Failure | undefined
  /** Shows a change before the service knows of it. */
  set: (entries: T[]) => void
  reload: () => void
}

const NONE = { count: 0, more: false }

/** Everything of a list, shown page after page as it arrives. */
export function useAll<P extends ListPath, T>(
  path: P,
  entriesOf: (page: Success<Get<P>>) => T[],
  options?: Arguments<Get<P>>,
): All<T> {
  const client = useClient()
  const [entries, set] = useState<T[]>([])
  const [count, setCount] = useState(NONE)
  const asked = JSON.stringify([path, options])
  const [shown, setShown] = useState<string>()
  const [problem, setProblem] = useState<Failure>()
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    let current = true
    setProblem(undefined)
    void (async () => {
      const all: T[] = []
      for await (const answer of pages(client, path, options)) {
        if (!current) return
        const page = answer as Success<Get<P>> | Failure
        if (page.ok) {
          all.push(...entriesOf(page))
          set([...all])
          const { count, is_count_exact } = page as unknown as { count: number; is_count_exact?: false }
          setCount({ count, more: is_count_exact === false })
        } else {
          setProblem(page)
          // What is shown answered another question.
          if (shown !== asked && all.length === 0) {
            set([])
            setCount(NONE)
          }
        }
        setShown(asked)
      }
    })()
    return () => {
      current = false
    }
  }, [client, asked, turn])
  return { entries, ...count, loading: shown !== asked, problem, set, reload: () => setTurn((n) => n + 1) }
}

import { createContext } from 'preact'
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks'

import type { Client, Failure } from '../api.ts'

/** The key that this page is signed in with, and the service as it opens it. */
export interface Connection {
  api_key: string
  client: Client
}

export const ConnectionContext = createContext<Connection | null>(null)

export function useConnection(): Connection {
  const connection = useContext(ConnectionContext)
  if (!connection) throw new Error('Not signed in')
  return connection
}

export const useClient = (): Client => useConnection().client

interface Loaded<T> {
  /** Undefined while it is loading, and when it could not be loaded. */
  answer: T | undefined
  problem: Failure | undefined
  reload: () => Promise<void>
  /** Puts what a change answered in place of what was loaded. */
  set: (answer: T) => void
}

/** Loads something when a page opens, and again when `deps` change; an answer that comes too late is dropped. */
export function useLoad<T extends { ok: true }>(load: () => Promise<T | Failure>, deps: unknown[]): Loaded<T> {
  const [answer, set] = useState<T>()
  const [problem, setProblem] = useState<Failure>()
  const turn = useRef(0)
  const reload = useCallback(async () => {
    const mine = ++turn.current
    const result = await load()
    if (mine !== turn.current) return
    setProblem(result.ok ? undefined : result)
    if (result.ok) set(result)
  }, deps)
  useEffect(() => {
    set(undefined)
    setProblem(undefined)
    void reload()
    return () => void turn.current++
  }, [reload])
  return { answer, problem, reload, set }
}

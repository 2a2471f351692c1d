import { createContext } from 'preact'
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks'

import type { Client, Failure } from '../api.ts'

/** The key that this page is signed in with, and the service as it opens it. */
export interface Connection {
  api_key: string
  client: Client
  /** It is the operator's. */
  is_root: boolean
}

export const ConnectionContext = createContext<Connection | null>(null)

export function useConnection(): Connection {
  const connection = useContext(ConnectionContext)
  if (!connection) throw new Error('Not signed in')
  return connection
}

export const useClient = (): Client => useConnection().client

interface Loaded<T> {
  /** Undefined while it is loading, and when it could not be loaded; what is known stays when loading it again fails, unless it is gone. */
  answer: T | undefined
  problem: Failure | undefined
  reload: () => Promise<void>
  /** Puts what a change answered in place of what was loaded, or is being loaded. */
  set: (answer: T) => void
}

/** Loads something when a page opens, and again when `deps` change; an answer that comes too late is dropped. */
export function useLoad<T extends { ok: true }>(load: () => Promise<T | Failure>, deps: unknown[]): Loaded<T> {
  const [answer, setAnswer] = useState<T>()
  const [problem, setProblem] = useState<Failure>()
  const turn = useRef(0)
  const show = useCallback((known: T | undefined) => {
    turn.current++
    setAnswer(known)
    setProblem(undefined)
  }, [])
  const reload = useCallback(async () => {
    const mine = ++turn.current
    const result = await load()
    if (mine !== turn.current) return
    if (result.ok) return show(result)
    setProblem(result)
    if (result.status === 404) setAnswer(undefined)
  }, deps)
  useEffect(() => {
    show(undefined)
    void reload()
    return () => void turn.current++
  }, [reload])
  return { answer, problem, reload, set: show }
}

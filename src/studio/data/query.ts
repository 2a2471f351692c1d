import { useEffect, useReducer, useRef } from 'preact/hooks'

import { isTransient, sleep } from '../../client/retry.ts'
import type { Failure } from '../base/api.ts'

/**
 * The query layer of the studio (docs/decisions/0085). Components with equal keys share a request and its answer. A new read of a
 * query aborts the previous one, so that a late response never replaces a newer one.
 */

interface QueryResponse {
  ok: true
}

/** Milliseconds until a read is repeated that failed because of the connection, the rate limit or the service. */
const RETRY = 5000

export interface LoadContext<T> {
  signal: AbortSignal
  /** The answer so far, with the changes during the read; undefined at the first read. */
  readonly previous: T | undefined
  /** Whether `more` was called: the next page is appended to `previous`. */
  isMore: boolean
}

/** Reads an answer. An iterable yields a longer answer after each page. */
type Load<T> = (read: LoadContext<T>) => Promise<T | Failure> | AsyncIterable<T | Failure>

export interface QueryOptions<T extends QueryResponse> {
  /** Identifies the answer. */
  key: readonly unknown[]
  load: Load<T>
  /** Returns the milliseconds until the answer is read again; null stops the reads. Hidden pages are not updated. */
  every?: (answer: T) => number | null
  /** Keeps the answer while no component shows it. */
  isKept?: boolean
  /** With a version, a component that starts to show the answer reads it again only if the version differs. */
  version?: string
  /** Shows the answer to the previous key until the new one arrives. */
  showsPrevious?: boolean
}

export interface Query<T> {
  /** Whether the answer belongs to the previous key. */
  isPrevious: boolean
  /** Undefined until the first answer. A failed read keeps it, unless the resource no longer exists. */
  answer: T | undefined
  problem: Failure | undefined
  reload: () => Promise<void>
  more: () => Promise<void>
  /** Replaces the answer, for example with the response to a change, and aborts the current read. */
  set: (answer: T) => void
  /** Changes the answer without aborting the current read. */
  update: (change: (answer: T) => T) => void
}

/** The state of one key, with the components that show it. */
export class QueryState<T extends QueryResponse> implements Query<T> {
  answer: T | undefined
  problem: Failure | undefined
  readonly isPrevious = false
  /** Counts the changes, so that a component notices those between its rendering and its effects. */
  changes = 0
  load: Load<T>
  readonly watchers = new Set<() => void>()
  #version: string | undefined
  #request: { controller: AbortController; isMore: boolean; done: Promise<void> } | null = null

  constructor(load: Load<T>) {
    this.load = load
  }

  reload = (): Promise<void> => (this.#request?.isMore ? this.#request.done : this.#read(false))
  more = (): Promise<void> => this.#read(true)

  set = (answer: T): void => {
    this.abort()
    this.#show(answer)
  }

  update = (change: (answer: T) => T): void => {
    if (this.answer) this.#show(change(this.answer), this.problem)
  }

  /** Reads the answer if it is missing or has another version. */
  async ensure(version?: string): Promise<void> {
    const isCurrent = version === this.#version
    this.#version = version
    if (isCurrent && this.answer) return
    await (isCurrent && this.#request ? this.#request.done : this.#read(false))
  }

  abort(): void {
    this.#request?.controller.abort()
    this.#request = null
  }

  #show(answer: T | undefined, problem?: Failure): void {
    this.answer = answer
    this.problem = problem
    this.changes++
    for (const watcher of this.watchers) watcher()
  }

  #read(isMore: boolean): Promise<void> {
    this.abort()
    const controller = new AbortController()
    const request = { controller, isMore, done: this.#run(controller.signal, isMore) }
    // A load that fails synchronously has ended already.
    if (!controller.signal.aborted) this.#request = request
    void request.done.finally(() => {
      if (this.#request === request) this.#request = null
    })
    return request.done
  }

  async #run(signal: AbortSignal, isMore: boolean): Promise<void> {
    const previous = this.answer
    let last: T | undefined
    const answer = () => this.answer
    const read: LoadContext<T> = {
      signal,
      isMore,
      get previous() {
        return answer()
      },
    }
    for await (const result of answersOf(this.load(read))) {
      if (signal.aborted) return
      if (!result.ok) return this.#show(result.status === 404 ? undefined : (this.answer ?? last), result)
      last = result
      // While a list is read again, the complete previous list stays until all pages have arrived.
      if (!previous) this.#show(result)
    }
    if (last && previous) this.#show(last)
  }
}

async function* answersOf<T>(load: Promise<T> | AsyncIterable<T>): AsyncIterable<T> {
  if (load instanceof Promise) yield await load
  else yield* load
}

const states = new Map<string, QueryState<QueryResponse>>()

/** Returns the state of a key. The compiler cannot check that a key always has the same type of answer. */
function stateOf<T extends QueryResponse>({ key, load }: QueryOptions<T>): QueryState<T> {
  const id = JSON.stringify(key)
  const state = (states.get(id) as QueryState<T> | undefined) ?? new QueryState(load)
  state.load = load
  states.set(id, state as unknown as QueryState<QueryResponse>)
  return state
}

/** Returns the answer of a query so far, outside of components. */
export const peekQuery = (key: readonly unknown[]): QueryResponse | undefined => states.get(JSON.stringify(key))?.answer

/** Resolves to the answer of a query that is kept, or to the failure. Concurrent calls share the request. */
export async function fetchQuery<T extends QueryResponse>(options: QueryOptions<T>): Promise<T | Failure> {
  const state = stateOf(options)
  await state.ensure(options.version)
  return state.answer ?? state.problem ?? { ok: false, code: 'aborted', message: 'Cancelled', status: 0 }
}

/** Reads the queries again whose keys start with a prefix. Those that no component shows are forgotten. */
export function invalidate(...prefix: unknown[]): void {
  const start = JSON.stringify(prefix).slice(0, -1)
  for (const [id, state] of states) {
    if (!id.startsWith(start)) continue
    if (state.watchers.size > 0) void state.reload()
    else states.delete(id)
  }
}

/** Forgets all answers, for example when the user signs out. */
export function clearQueries(): void {
  for (const state of states.values()) state.abort()
  states.clear()
}

/** A query that reads nothing. */
const NOTHING = {
  isPrevious: false,
  answer: undefined,
  problem: undefined,
  reload: async () => {},
  more: async () => {},
  set: () => {},
  update: () => {},
} as const satisfies Query<unknown>

/** Reads an answer while a component shows it. Without options, nothing is read. */
export function useQuery<T extends QueryResponse>(options: QueryOptions<T> | null): Query<T> {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  const state = options && stateOf(options)
  const seen = state?.changes
  const { version, isKept } = options ?? {}
  useEffect(() => {
    if (!state) return
    const watcher = () => redraw()
    const id = JSON.stringify(options?.key)
    state.watchers.add(watcher)
    states.set(id, state as unknown as QueryState<QueryResponse>)
    if (state.changes !== seen) redraw()
    void (version === undefined && state.watchers.size === 1 ? state.reload() : state.ensure(version))
    return () => {
      state.watchers.delete(watcher)
      if (state.watchers.size > 0 || isKept) return
      state.abort()
      if (states.get(id) === (state as unknown as QueryState<QueryResponse>)) states.delete(id)
    }
  }, [state, version])
  const again = state?.problem && isTransient(state.problem) ? RETRY : null
  useRepeat(state && state.reload, (state?.answer && options?.every?.(state.answer)) ?? again)
  const previous = useRef<T>(undefined)
  if (state?.answer) previous.current = state.answer
  if (!state) return NOTHING
  if (state.answer || state.problem || !options.showsPrevious) return state
  const { problem, reload, more, set, update } = state
  return { answer: previous.current, isPrevious: previous.current !== undefined, problem, reload, more, set, update }
}

/** Calls `look` again and again, each time `period` milliseconds after the last call has ended or when the machine is online again, while the page is visible. */
export async function repeat(look: () => Promise<unknown>, period: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(period, signal, { online: true })
    if (!signal.aborted && document.visibilityState === 'visible') await look()
  }
}

/** Repeats `look` while the component is mounted and neither argument is null. */
export function useRepeat(look: (() => Promise<unknown>) | null, period: number | null): void {
  // A new function in each render does not restart the wait.
  const latest = useRef(look)
  latest.current = look
  useEffect(() => {
    if (period === null) return
    const ended = new AbortController()
    void repeat(async () => latest.current?.(), period, ended.signal)
    return () => ended.abort()
  }, [period])
}

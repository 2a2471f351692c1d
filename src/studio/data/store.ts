import { useEffect, useReducer } from 'preact/hooks'

/** A value that is kept when the page changes, and notifies its watchers of changes. */
export interface Store<T> {
  get: () => T
  set: (value: T) => void
  watch: (listener: () => void) => () => void
}

export function createStore<T>(value: T): Store<T> {
  const listeners = new Set<() => void>()
  let current = value
  return {
    get: () => current,
    set(next) {
      current = next
      for (const listener of listeners) listener()
    },
    watch(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Returns the value of a store, and renders the component again when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  useEffect(() => store.watch(() => redraw()), [store])
  return store.get()
}

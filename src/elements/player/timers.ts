/** Named timers: one with the same name replaces the one before. They all end with a signal. */
export function createTimers(signal: AbortSignal) {
  const running = new Map<string, ReturnType<typeof setTimeout>>()
  let waiting: (() => void) | null = null

  const stop = (name: string) => {
    clearTimeout(running.get(name))
    running.delete(name)
  }
  window.addEventListener(
    'online',
    () => {
      const act = waiting
      waiting = null
      if (act === null) return
      stop('poll')
      act()
    },
    { signal },
  )

  return {
    after(name: string, milliseconds: number, act: () => void) {
      stop(name)
      if (signal.aborted) return
      running.set(
        name,
        setTimeout(() => {
          running.delete(name)
          waiting = null
          act()
        }, milliseconds),
      )
    },
    /** Acts as soon as the machine is back on the network, unless a timer was faster. */
    online(act: () => void) {
      waiting = act
    },
    stop,
    clear() {
      for (const name of running.keys()) stop(name)
      waiting = null
    },
  }
}

export type Timers = ReturnType<typeof createTimers>

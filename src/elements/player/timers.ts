/** Named timers: one with the same name replaces the one before. They all end with a signal. */
export function createTimers(signal: AbortSignal) {
  const running = new Map<string, { id: ReturnType<typeof setTimeout>; act: () => void; online: boolean }>()

  const stop = (name: string) => {
    clearTimeout(running.get(name)?.id)
    running.delete(name)
  }
  window.addEventListener(
    'online',
    () => {
      for (const [name, { act, online }] of running) {
        if (!online) continue
        stop(name)
        act()
      }
    },
    { signal },
  )

  return {
    /** Acts after a while; with `online` as soon as the machine is back on the network, if that is earlier. */
    after(name: string, milliseconds: number, act: () => void, online = false) {
      stop(name)
      if (signal.aborted) return
      const id = setTimeout(() => {
        running.delete(name)
        act()
      }, milliseconds)
      running.set(name, { id, act, online })
    },
    stop,
    clear() {
      for (const name of running.keys()) stop(name)
    },
  }
}

export type Timers = ReturnType<typeof createTimers>

import { useRef, useState } from 'preact/hooks'

/** Returns a function that runs one task at a time, and ignores calls in the meantime. */
export function useOnce(): [running: boolean, once: (work: () => unknown) => Promise<void>] {
  const [running, setRunning] = useState(false)
  // The state changes with the next render, but a second press may come before that.
  const taken = useRef(false)
  async function once(work: () => unknown) {
    if (taken.current) return
    const started = work()
    if (!(started instanceof Promise)) return
    const take = (now: boolean) => setRunning((taken.current = now))
    take(true)
    await started.finally(() => take(false))
  }
  return [running, once]
}

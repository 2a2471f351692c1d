import { useRef, useState } from 'preact/hooks'

/** Lets one piece of work run at a time: what is asked for meanwhile is not begun. */
export function useOnce(): [running: boolean, once: (work: () => unknown) => Promise<void>] {
  const [running, setRunning] = useState(false)
  // The state is only as new as the last drawing; two presses may come before the next.
  const taken = useRef(false)
  async function once(work: () => unknown) {
    if (taken.current) return
    const begun = work()
    if (!(begun instanceof Promise)) return
    const take = (now: boolean) => setRunning((taken.current = now))
    take(true)
    await begun.finally(() => take(false))
  }
  return [running, once]
}

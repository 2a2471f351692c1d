import { useEffect, useRef } from 'preact/hooks'

import { sleep } from '../../client/retry.ts'

/** Looks again and again, each time a while after the last answer, however long that took; not while the page is hidden. */
export async function repeat(look: () => Promise<unknown>, period: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(period, signal)
    if (!signal.aborted && document.visibilityState === 'visible') await look()
  }
}

/** The same for as long as a page is shown, and there is something to wait for: a period that is not null. */
export function useRepeat(look: () => Promise<unknown>, period: number | null): void {
  // Each render may bring another one, which does not begin the wait anew.
  const latest = useRef(look)
  latest.current = look
  useEffect(() => {
    if (period === null) return
    const ended = new AbortController()
    void repeat(() => latest.current(), period, ended.signal)
    return () => ended.abort()
  }, [period])
}

import { useEffect } from 'preact/hooks'

import { sleep } from '../../client/retry.ts'

/** Looks again and again, each time a while after the last answer, however long that took; not while the page is hidden. */
export async function repeat(look: () => Promise<unknown>, period: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(period, signal)
    if (!signal.aborted && document.visibilityState === 'visible') await look()
  }
}

/** The same for as long as a page is shown, and there is something to wait for. */
export function useRepeat(look: () => Promise<unknown>, period: number, isOpen = true): void {
  useEffect(() => {
    if (!isOpen) return
    const ended = new AbortController()
    void repeat(look, period, ended.signal)
    return () => ended.abort()
  }, [look, isOpen])
}

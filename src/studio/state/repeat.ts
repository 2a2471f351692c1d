import { pause } from '../../client/pause.ts'

/** Looks again and again, each time a while after the last answer, however long that took; not while the page is hidden. */
export async function repeat(look: () => Promise<unknown>, period: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(period, signal)
    if (!signal.aborted && document.visibilityState === 'visible') await look()
  }
}

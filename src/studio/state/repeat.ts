import { pause } from '../../client/pause.ts'

/** Looks again and again: each time a while after the last answer, however long that took; not while the page is hidden. */
export async function repeat(look: () => Promise<unknown>, period: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (document.visibilityState === 'visible') await look()
    await pause(period, signal)
  }
}

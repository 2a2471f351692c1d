const FIRST_DELAY = 1000
const LONGEST_DELAY = 30_000

/** Attempts in a row before a file is given up; with the pauses between them about two minutes. */
export const MAX_ATTEMPTS = 8

/** The pause before attempt n + 1: doubled each time, and a little at random, so that not everybody comes back at once. */
export const delayAfter = (attempt: number) =>
  Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (attempt - 1)) * (0.75 + Math.random() / 2)

/** Some machines call themselves offline and are not; so they are asked again, if rarely. */
export const OFFLINE_DELAY = LONGEST_DELAY

export const isOffline = () => !navigator.onLine

/** Waits for a time, or until the browser is back online, or until `nudge` is called; false when aborted. */
export function wait(milliseconds: number, signal: AbortSignal, offerNudge: (nudge: () => void) => void) {
  return new Promise<boolean>((resolve) => {
    const timer = setTimeout(done, milliseconds)
    function done() {
      clearTimeout(timer)
      removeEventListener('online', done)
      signal.removeEventListener('abort', done)
      offerNudge(() => {})
      resolve(!signal.aborted)
    }
    if (signal.aborted) return done()
    addEventListener('online', done)
    signal.addEventListener('abort', done)
    offerNudge(done)
  })
}

/** Waits; ends early when the signal aborts. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    if (signal?.aborted) return resolve()
    const timer = setTimeout(done, milliseconds)
    signal?.addEventListener('abort', done)
  })
}

/** A signal that aborts with the caller's, and by itself after a time: a connection may be dead without having been closed. */
export function deadline(milliseconds: number, signal?: AbortSignal) {
  const controller = new AbortController()
  const abort = () => controller.abort()
  let timer = setTimeout(abort, milliseconds)
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  return {
    signal: controller.signal,
    /** Something was heard: from now on it has so long. */
    extend(milliseconds: number) {
      clearTimeout(timer)
      timer = setTimeout(abort, milliseconds)
    },
    end() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    },
  }
}

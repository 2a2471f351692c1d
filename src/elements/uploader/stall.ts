/** A connection that is dead without having been closed is noticed by its silence, in milliseconds. */
const SILENCE = 60_000
/** Once all bytes are on their way, the storage may take its time with a large file. */
const PATIENCE = 300_000

/** Aborts an upload from which nothing is heard for too long; the caller's signal does, too. */
export function watchStall(signal: AbortSignal) {
  const controller = new AbortController()
  const abort = () => controller.abort()
  let timer = setTimeout(abort, SILENCE)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  return {
    signal: controller.signal,
    alive(fraction: number) {
      clearTimeout(timer)
      timer = setTimeout(abort, fraction < 1 ? SILENCE : PATIENCE)
    },
    end() {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    },
  }
}

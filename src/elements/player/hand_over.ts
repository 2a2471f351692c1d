/** Seconds of playing time in which the other element must be ready at the place where it takes over. */
const LEAD = 1.5
/** Seconds between `play()` and the first sound, about. */
const START = 0.03
const PATIENCE = 20_000

/**
 * Lets `next`, which loads the same audio, take over from `now`, which plays: it waits at a place a little ahead and starts when `now`
 * gets there. False when it did not load, came too late, or is not wanted any more; then `now` just plays on.
 */
export async function handOver(now: HTMLAudioElement, next: HTMLAudioElement, wanted: () => boolean): Promise<boolean> {
  next.load()
  if (!(await until(next, 'canplay')) || !wanted()) return false
  const at = now.currentTime + LEAD * now.playbackRate
  if (at > now.duration) return false
  next.currentTime = at
  if (!(await until(next, 'canplaythrough')) || !wanted()) return false
  const left = (at - START - now.currentTime) / now.playbackRate
  if (left < 0) return false
  await new Promise((resolve) => setTimeout(resolve, left * 1000))
  if (!wanted() || now.paused) return false
  // `now` may have stalled meanwhile.
  if (Math.abs(now.currentTime - at) > 0.25) next.currentTime = now.currentTime
  next.playbackRate = now.playbackRate
  return await next.play().then(
    () => wanted() || (next.pause(), false),
    () => false,
  )
}

/** Waits for an event; false after an error, or when it takes too long. */
function until(audio: HTMLAudioElement, name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const ended = new AbortController()
    const finish = (result: boolean) => {
      clearTimeout(timer)
      ended.abort()
      resolve(result)
    }
    const timer = setTimeout(finish, PATIENCE, false)
    audio.addEventListener(name, () => finish(true), { signal: ended.signal })
    audio.addEventListener('error', () => finish(false), { signal: ended.signal })
  })
}

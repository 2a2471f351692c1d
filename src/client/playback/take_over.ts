/**
 * Hands over between two audio elements that play the same audio. Loaded on demand, because few tracks outlast their URL. Imports nothing
 * (docs/decisions/0038).
 */

/** Approximate seconds between `play()` and the first sound. */
const START = 0.03
/** Seconds of the track that may be skipped or repeated. */
const TOLERANCE = 0.25
const LOAD_TIMEOUT = 20_000

/**
 * Hands over from `now`, which is playing, to `next`, which loads the same audio: `next` waits at a position a little ahead of `now` and
 * starts when `now` reaches it. Resolves to false if `next` did not load, was late, or is no longer wanted; then `now` keeps playing.
 */
export async function takeOver(
  now: HTMLAudioElement,
  next: HTMLAudioElement,
  lead: number,
  isWanted: () => boolean,
): Promise<boolean> {
  next.load()
  if (!(await until(next, 'canplay')) || !isWanted()) return false
  const at = now.currentTime + lead * now.playbackRate
  if (at > now.duration) return false
  next.currentTime = at
  if (!(await until(next, 'canplaythrough')) || !isWanted()) return false
  const remaining = (at - START - now.currentTime) / now.playbackRate
  if (remaining < 0) return false
  await new Promise((resolve) => setTimeout(resolve, remaining * 1000))
  if (!isWanted() || now.paused) return false
  // `now` may have stalled during the sleep.
  if (Math.abs(now.currentTime - at) > TOLERANCE) next.currentTime = now.currentTime
  next.playbackRate = now.playbackRate
  return await next.play().then(
    // `now` may have played on while `next` was waiting for its sound.
    () => (isWanted() && Math.abs(now.currentTime - next.currentTime) < TOLERANCE) || (next.pause(), false),
    () => false,
  )
}

/** Waits for an event. Resolves to false after an error or a timeout. */
function until(audio: HTMLAudioElement, name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const ended = new AbortController()
    const finish = (result: boolean) => {
      clearTimeout(timer)
      ended.abort()
      resolve(result)
    }
    const timer = setTimeout(finish, LOAD_TIMEOUT, false)
    audio.addEventListener(name, () => finish(true), { signal: ended.signal })
    audio.addEventListener('error', () => finish(false), { signal: ended.signal })
  })
}

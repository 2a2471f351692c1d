const EVENTS = ['play', 'seeking', 'timeupdate', 'durationchange', 'progress', 'emptied']

/** Calls `onTime` whenever the position of a media element changes, and on every frame while it plays, until the signal aborts. */
export function followMedia(media: HTMLMediaElement, onTime: () => void, signal: AbortSignal): void {
  let frame = 0
  function update(): void {
    cancelAnimationFrame(frame)
    if (signal.aborted) return
    onTime()
    if (!media.paused) frame = requestAnimationFrame(update)
  }
  for (const name of EVENTS) media.addEventListener(name, update, { signal })
  update()
}

/** Returns the seconds up to which a media element has loaded its file without a gap from its position; null if it has loaded nothing. */
export function loadedUntil({
  buffered,
  currentTime,
}: Pick<HTMLMediaElement, 'buffered' | 'currentTime'>): number | null {
  let end = buffered.length === 0 ? null : 0
  for (let i = 0; i < buffered.length; i++) if (buffered.start(i) <= currentTime) end = buffered.end(i)
  return end
}

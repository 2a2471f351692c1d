const EVENTS = ['play', 'seeking', 'timeupdate', 'durationchange', 'emptied']

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

/** Seconds by which an arrow key changes the position. */
export const STEP = 5

/** Returns the position in seconds to which a key moves a time slider (ARIA Authoring Practices, slider), or undefined for other keys. */
export function keyTarget(key: string, position: number, duration: number): number | undefined {
  const targets: Record<string, number> = {
    ArrowRight: position + STEP,
    ArrowUp: position + STEP,
    ArrowLeft: position - STEP,
    ArrowDown: position - STEP,
    PageUp: position + duration / 10,
    PageDown: position - duration / 10,
    Home: 0,
    End: duration,
  }
  const target = targets[key]
  return target === undefined ? undefined : Math.min(duration, Math.max(0, target))
}

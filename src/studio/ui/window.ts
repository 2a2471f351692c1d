import type { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

/** The steps in which the rendered rows change, and the number of steps that are rendered above and below the visible part. */
const STEP = 4
const MORE = 2

/** Returns the rows that are visible, with some more on both sides. All rows have the same height, in pixels. The range changes in steps of rows. */
export function rangeOf(
  top: number,
  windowHeight: number,
  height: number,
  count: number,
  step = STEP,
): [from: number, to: number] {
  const more = MORE * step
  const from = Math.floor((-top / height - more) / step) * step
  const to = Math.ceil(((windowHeight - top) / height + more) / step) * step
  return [Math.min(Math.max(0, from), count), Math.min(Math.max(0, to), count)]
}

/** Returns the range of rows to render in an element that has the height of all rows and scrolls with the page. */
export function useWindow(element: RefObject<HTMLElement | null>, count: number, height: number, step = STEP) {
  const [range, setRange] = useState<[from: number, to: number]>([0, Math.min(count, 10 * step)])
  useLayoutEffect(() => {
    const look = () => {
      const box = element.current
      if (!box) return
      const next = rangeOf(box.getBoundingClientRect().top, innerHeight, height, count, step)
      setRange((before) => (before[0] === next[0] && before[1] === next[1] ? before : next))
    }
    look()
    const ended = new AbortController()
    const options = { signal: ended.signal, passive: true }
    addEventListener('scroll', look, options)
    // The page above the rows may become longer or shorter.
    const resized = new ResizeObserver(look)
    resized.observe(document.body)
    addEventListener('resize', look, options)
    return () => {
      ended.abort()
      resized.disconnect()
    }
  }, [count, height, step])
  return range
}

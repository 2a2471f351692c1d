import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

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
  more = MORE * step,
): [from: number, to: number] {
  const from = Math.floor((-top / height - more) / step) * step
  const to = Math.ceil(((windowHeight - top) / height + more) / step) * step
  return [Math.min(Math.max(0, from), count), Math.min(Math.max(0, to), count)]
}

/** Returns the range of rows to render in an element that has the height of all rows and scrolls with the page. */
export function useWindow(element: RefObject<HTMLElement | null>, count: number, height: number, step = STEP) {
  const [range, setRange] = useState<[from: number, to: number]>([0, Math.min(count, 10 * step)])
  const shown = useRef(range)
  useLayoutEffect(() => {
    let frame = 0
    const render = (next: [from: number, to: number]) => {
      if (shown.current[0] === next[0] && shown.current[1] === next[1]) return
      shown.current = next
      setRange(next)
    }
    const look = () => {
      cancelAnimationFrame(frame)
      const box = element.current
      if (!box) return
      const { top } = box.getBoundingClientRect()
      const next = rangeOf(top, innerHeight, height, count, step)
      const visible = rangeOf(top, innerHeight, height, count, 1, 0)
      const isNear = next[0] < shown.current[1] && next[1] > shown.current[0]
      if (isNear || visible[0] === visible[1]) return render(next)
      // After a jump, the rows around the visible ones follow in the next frame, because one frame is too short for all of them.
      render(visible)
      frame = requestAnimationFrame(look)
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
      cancelAnimationFrame(frame)
      ended.abort()
      resized.disconnect()
    }
  }, [count, height, step])
  return range
}

import type { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

/** The number of rows that are rendered above and below the visible part. It is a multiple of the steps in which they change. */
const MORE = 8
const STEP = 4

/** Returns the rows that are visible, with some more on both sides. All rows have the same height, in pixels. */
export function rangeOf(top: number, windowHeight: number, height: number, count: number): [from: number, to: number] {
  const from = Math.floor((-top / height - MORE) / STEP) * STEP
  const to = Math.ceil(((windowHeight - top) / height + MORE) / STEP) * STEP
  return [Math.min(Math.max(0, from), count), Math.min(Math.max(0, to), count)]
}

/** Returns the range of rows to render in an element that has the height of all rows and scrolls with the page. */
export function useWindow(element: RefObject<HTMLElement | null>, count: number, height: number) {
  const [range, setRange] = useState<[from: number, to: number]>([0, Math.min(count, 40)])
  useLayoutEffect(() => {
    const look = () => {
      const box = element.current
      if (!box) return
      const next = rangeOf(box.getBoundingClientRect().top, innerHeight, height, count)
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
  }, [count, height])
  return range
}

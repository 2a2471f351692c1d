import { useState } from 'preact/hooks'

/** Returns a week of days, or a twentieth of more spans. */
const pageOf = (count: number) => Math.max(7, Math.round(count / 20))

const STEPS: Record<string, (at: number, count: number) => number> = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  PageUp: (at, count) => at - pageOf(count),
  PageDown: (at, count) => at + pageOf(count),
  Home: () => 0,
  End: (_, count) => count - 1,
}

type Target = { currentTarget: HTMLElement }

/**
 * The span of a chart that the pointer, a finger or the keys of a slider choose. `spanAt` returns the span at a fraction of the width. Without a choice, the
 * slider has the last span.
 */
export function useCursor(count: number, spanAt: (fraction: number) => number) {
  const [chosen, choose] = useState<number | null>(null)
  const within = (span: number) => Math.max(0, Math.min(count - 1, span))
  const at = chosen === null ? null : within(chosen)
  const current = at ?? count - 1
  function point(event: PointerEvent & Target) {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    choose(within(spanAt((event.clientX - left) / width)))
  }
  function press(event: KeyboardEvent) {
    if (event.key === 'Escape') return choose(null)
    const step = STEPS[event.key]
    if (!step) return
    event.preventDefault()
    choose(within(step(current, count)))
  }
  return {
    /** Null if nothing is chosen. */
    at,
    /** The value of the slider. */
    current,
    handlers: {
      onPointerDown: point,
      onPointerMove: point,
      onPointerLeave: (event: PointerEvent) => void (event.pointerType === 'mouse' && choose(null)),
      onKeyDown: press,
      onFocus: () => choose((before) => before ?? count - 1),
      onBlur: () => choose(null),
    },
  }
}

export type Cursor = ReturnType<typeof useCursor>

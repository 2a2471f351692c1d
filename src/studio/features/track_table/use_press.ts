import { useRef } from 'preact/hooks'

/** Milliseconds after which a press of a finger selects a row, and the pixels that the finger may move meanwhile. */
const LONG = 500
const STEADY = 10

interface Properties {
  isSelecting: boolean
  onPick: (at: number) => void
  onExtend: (at: number) => void
}

const rowAt = (target: EventTarget | null) => {
  const at = (target as Element | null)?.closest<HTMLElement>('[data-at]')?.dataset.at
  return at === undefined ? undefined : Number(at)
}
const isControl = (target: EventTarget | null) =>
  Boolean((target as Element | null)?.closest('a, button, input, .wave'))

/**
 * Selects rows by pressing them: for a while with a finger, and then with each touch, or up to a row by holding it; with the mouse while Ctrl, Command or Shift is held. Returns the
 * handlers of the table.
 */
export function usePress({ isSelecting, onPick, onExtend }: Properties) {
  const press = useRef({ timer: 0, x: 0, y: 0, isTouch: false, isLong: false })
  const end = () => clearTimeout(press.current.timer)
  return {
    onPointerDown(event: PointerEvent) {
      end()
      const at = rowAt(event.target)
      const isTouch = event.pointerType === 'touch'
      press.current = { timer: 0, x: event.clientX, y: event.clientY, isTouch, isLong: false }
      if (!isTouch || at === undefined) return
      press.current.timer = setTimeout(() => {
        press.current.isLong = true
        if (isSelecting) onExtend(at)
        else onPick(at)
      }, LONG)
    },
    onPointerMove(event: PointerEvent) {
      const { x, y } = press.current
      if (Math.hypot(event.clientX - x, event.clientY - y) > STEADY) end()
    },
    onPointerUp: end,
    onPointerCancel: end,
    onContextMenu(event: Event) {
      if (press.current.isTouch && rowAt(event.target) !== undefined) event.preventDefault()
    },
    /** Runs before the click of the link or button in the row. */
    onClickCapture(event: MouseEvent) {
      const at = rowAt(event.target)
      if (at === undefined || (event.target as Element).closest('input')) return
      const { isTouch, isLong } = press.current
      const isPicked = isTouch && isSelecting && !isLong && !(event.target as Element).closest('button')
      const isModified = !isTouch && !isControl(event.target) && (event.shiftKey || event.ctrlKey || event.metaKey)
      if (!isLong && !isPicked && !isModified) return
      event.preventDefault()
      event.stopPropagation()
      press.current.isLong = false
      if (isModified && event.shiftKey) onExtend(at)
      else if (!isLong) onPick(at)
    },
  }
}

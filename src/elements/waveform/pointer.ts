import { formatClock } from '../shared/clock.ts'

interface Hover {
  line: HTMLElement
  /** The label next to the line, which shows the time. */
  time: HTMLElement
}
interface Slider {
  duration: () => number
  /** Returns the title of the chapter at a time in seconds. */
  nameAt: (time: number) => string
  enabled: () => boolean
  /** Called with the position during a drag, and with null when the drag ends. */
  drag: (time: number | null) => void
  seek: (time: number) => void
}

/** Lets the user seek with a pointer on a time slider, and shows the time under the pointer. */
export function listenToPointers(
  slider: HTMLElement,
  hover: Hover,
  { duration, nameAt, enabled, drag, seek }: Slider,
): void {
  let dragging = false
  const leave = () => hover.line.classList.remove('on')

  function timeAt(event: PointerEvent): number {
    const { left, width } = slider.getBoundingClientRect()
    return Math.min(1, Math.max(0, (event.clientX - left) / width)) * duration()
  }

  function show(event: PointerEvent): void {
    const { left, width } = slider.getBoundingClientRect()
    const x = Math.min(width, Math.max(0, event.clientX - left))
    const time = timeAt(event)
    hover.time.textContent = [formatClock(time), nameAt(time)].filter(Boolean).join(' · ')
    hover.line.classList.toggle('on', duration() > 0)
    // The line follows the pointer. Its label stays within the element.
    const half = Math.min(width / 2, hover.time.offsetWidth / 2)
    hover.line.style.transform = `translateX(${x}px)`
    hover.time.style.left = `${Math.min(width - half, Math.max(half, x)) - x}px`
  }

  slider.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || !enabled()) return
    slider.setPointerCapture(event.pointerId)
    dragging = true
    drag(timeAt(event))
  })
  slider.addEventListener('pointermove', (event) => {
    show(event)
    if (dragging) drag(timeAt(event))
  })
  slider.addEventListener('pointerup', (event) => {
    if (!dragging) return
    dragging = false
    drag(null)
    seek(timeAt(event))
    if (event.pointerType !== 'mouse') leave()
  })
  slider.addEventListener('pointercancel', () => {
    dragging = false
    drag(null)
    leave()
  })
  slider.addEventListener('pointerleave', leave)
}

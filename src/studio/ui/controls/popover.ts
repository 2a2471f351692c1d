/** Pixels between a popover and its button, and between it and the edge of the window. */
const GAP = 4
const EDGE = 8

/** Puts an open popover below an element, or above it where there is more space. `align` is the side on which both end. */
export function placeAt(box: HTMLElement, anchor: Element, align: 'start' | 'end'): void {
  const { bottom, top, left, right } = anchor.getBoundingClientRect()
  const below = bottom + GAP
  const fits = below + box.offsetHeight < innerHeight || innerHeight - bottom > top
  const isAtLeft = (align === 'start') !== (document.dir === 'rtl')
  const start = isAtLeft ? left : right - box.offsetWidth
  box.style.top = `${Math.max(EDGE, fits ? Math.min(below, innerHeight - box.offsetHeight - EDGE) : top - GAP - box.offsetHeight)}px`
  box.style.left = `${Math.max(EDGE, Math.min(start, innerWidth - box.offsetWidth - EDGE))}px`
}

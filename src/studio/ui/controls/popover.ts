/** Pixels between a popover and its button, and between it and the edge of the window. */
const GAP = 4
const EDGE = 8

/**
 * Puts an open popover below an element, or above it if only there is enough space. `align` is the side on which both end. At the start, the popover is
 * at least as wide as the element.
 */
export function placePopover(box: HTMLElement, anchor: Element, align: 'start' | 'end'): void {
  const { bottom, top, left, right, width } = anchor.getBoundingClientRect()
  if (align === 'start') box.style.minWidth = `${width}px`
  box.style.maxHeight = 'none'
  const [above, below] = [top - GAP - EDGE, innerHeight - bottom - GAP - EDGE]
  const isBelow = box.offsetHeight <= below || below >= above
  box.style.maxHeight = `${isBelow ? below : above}px`
  const isAtLeft = (align === 'start') !== (getComputedStyle(anchor).direction === 'rtl')
  const start = isAtLeft ? left : right - box.offsetWidth
  box.style.top = `${isBelow ? bottom + GAP : top - GAP - box.offsetHeight}px`
  box.style.left = `${Math.max(EDGE, Math.min(start, innerWidth - box.offsetWidth - EDGE))}px`
}

import { element } from '../shared/dom.ts'

/** Path data of 24 × 24 icons, drawn for this project. */
export const icons = {
  upload: 'M11 16V7.8L7.9 10.9 6.5 9.5 12 4l5.5 5.5-1.4 1.4L13 7.8V16h-2zM5 20v-5h2v3h10v-3h2v5H5z',
  note: 'M10 21a3.5 3.5 0 1 1 1.5-6.66V4l8-1.5v4L13.5 7.6v9.9A3.5 3.5 0 0 1 10 21z',
  pause: 'M7 5h3.5v14H7V5zm6.5 0H17v14h-3.5V5z',
  play: 'M8 5v14l11-7L8 5z',
  retry:
    'M12 5a7 7 0 1 1-6.9 8.2h2.05A5 5 0 1 0 12 7c-1.3 0-2.48.5-3.37 1.31L11 10.7H4.5V4.2l2.7 2.7A6.97 6.97 0 0 1 12 5z',
  close: 'M6.4 5 12 10.6 17.6 5 19 6.4 13.4 12l5.6 5.6-1.4 1.4L12 13.4 6.4 19 5 17.6 10.6 12 5 6.4 6.4 5z',
  check: 'M9.5 16.2 5.3 12l-1.4 1.4 5.6 5.6L20.6 7.9l-1.4-1.4L9.5 16.2z',
  alert: 'M12 3 1.5 21h21L12 3zm1 14.5h-2v-2h2v2zm0-3.5h-2V9.5h2V14z',
}

/** Creates a progress bar. It is indeterminate while it has no fraction. */
export function createBar(part: string) {
  const fill = element('div', { class: 'fill', part: `${part}-fill` })
  const root = element(
    'div',
    { class: 'bar', part, role: 'progressbar', 'aria-valuemin': 0, 'aria-valuemax': 100 },
    fill,
  )

  function show(label: string, fraction: number | null, text: string): void {
    root.ariaLabel = label
    root.ariaValueText = text
    root.ariaValueNow = fraction === null ? null : String(Math.floor(fraction * 100))
    root.classList.toggle('unknown', fraction === null)
    fill.style.setProperty('inline-size', fraction === null ? '' : `${fraction * 100}%`)
  }
  return { root, show }
}

/**
 * Applies a change within an element. If the change hides or removes the focused control, calls `next` to move the focus, which would
 * otherwise be lost.
 */
export function keepFocus(container: HTMLElement, change: () => void, next: () => void): void {
  const root = container.getRootNode()
  const focused = () => (root instanceof ShadowRoot ? root.activeElement : null)
  const hadFocus = container.contains(focused())
  change()
  if (hadFocus && !focused()?.checkVisibility()) next()
}

import { element } from '../shared/dom.ts'

/** Path data of 24 × 24 icons, drawn for this project. */
export const icons = {
  upload: 'M11 16V7.8L7.9 10.9 6.5 9.5 12 4l5.5 5.5-1.4 1.4L13 7.8V16zM5 20v-5h2v3h10v-3h2v5z',
  note: 'M10 21a3.5 3.5 0 1 1 1.5-6.66V4l8-1.5v4L13.5 7.6v9.9A3.5 3.5 0 0 1 10 21z',
  pause: 'M7 5h3.5v14H7zm6.5 0H17v14h-3.5z',
  play: 'M8 5v14l11-7z',
  retry: 'M12 5V2L7 6.5l5 4.5V7a5 5 0 1 1-5 5H5a7 7 0 1 0 7-7z',
  close: 'M6.4 5 12 10.6 17.6 5 19 6.4 13.4 12l5.6 5.6-1.4 1.4-5.6-5.6L6.4 19 5 17.6l5.6-5.6L5 6.4z',
  check: 'M9.5 16.2 5.3 12l-1.4 1.4 5.6 5.6L20.6 7.9l-1.4-1.4z',
  alert: 'M12 3 1.5 21h21zm1 14.5h-2v-2h2zm0-3.5h-2V9.5h2z',
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

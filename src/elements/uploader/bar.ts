import { element } from '../shared/dom.ts'

/** A progress bar. Without a fraction it says that something goes on, but not how far it is. */
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

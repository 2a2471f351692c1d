import { inkOn, isHex, readable } from '../shared/color.ts'

/** The service's own color. */
const ACCENT = '#B5541A'
const TEXT = 4.5
/** The grounds that the accent meets, as in uploader.css: cards and fields, in light and dark. */
const LIGHT = ['#f3f3f5', '#ffffff'] as const
const DARK = ['#24272e', '#17191e'] as const

/**
 * Sets the accent on an element as custom properties, for light and dark: moved towards black or white until text in it reads well
 * (WCAG 2.2, 1.4.3). Set through the CSSOM, which a strict Content-Security-Policy allows.
 */
export function setAccent(target: HTMLElement, wanted: string | null): void {
  const accent = isHex(wanted) ? wanted : ACCENT
  const grounds = { light: LIGHT, dark: DARK }
  for (const [name, [first, second]] of Object.entries(grounds)) {
    const color = readable(accent, TEXT, first, second)
    target.style.setProperty(`--_accent-${name}`, color)
    target.style.setProperty(`--_ink-${name}`, inkOn(color))
  }
}

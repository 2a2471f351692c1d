/** Functions for colors of the form `#RRGGBB` and the contrast between them (WCAG 2.2, relative luminance and contrast ratio). */

const channels = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))

export const isHex = (text: string | null | undefined): text is string => /^#[0-9a-f]{6}$/i.test(text ?? '')

/** Returns the relative luminance of a color, from 0 for black to 1 for white. */
export function luminance(hex: string): number {
  const [r, g, b] = channels(hex).map((value) => {
    const c = value / 255
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
}

/** Returns the contrast ratio of two colors, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [dark, light] = [luminance(a), luminance(b)].toSorted((x, y) => x - y)
  return (light! + 0.05) / (dark! + 0.05)
}

/** Mixes two colors. If `amount` is 0, returns `from`; if it is 1, returns `to`. */
export function mix(from: string, to: string, amount: number): string {
  const target = channels(to)
  const mixed = channels(from).map((value, i) => Math.round(value + (target[i]! - value) * amount))
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

/** Returns black or white, whichever has more contrast with a background. The contrast is always at least 4.58:1. */
export const inkOn = (background: string) =>
  contrast('#ffffff', background) >= contrast('#000000', background) ? '#ffffff' : '#000000'

const STEPS = 64

/**
 * Returns the nearest color whose contrast to every background is at least `ratio`. Darkens or lightens the color, away from the first
 * background, only as far as necessary. For similar backgrounds and a ratio of at most 4.5, there is always such a color.
 */
export function readable(color: string, ratio: number, ...backgrounds: [string, ...string[]]): string {
  const end = inkOn(backgrounds[0])
  for (let step = 0; step < STEPS; step++) {
    const candidate = mix(color, end, step / STEPS)
    if (backgrounds.every((background) => contrast(candidate, background) >= ratio)) return candidate
  }
  return end
}

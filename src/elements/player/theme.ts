import { DEFAULT_COLOR } from '../../contract/facts.ts'
import { contrast, inkOn, isHex, mix, readable } from '../shared/color.ts'

/** The colors of a player; every pair that meets has the contrast that WCAG 2.2 asks for (1.4.3 text, 1.4.11 controls). */
export interface Palette {
  surface: string
  /** Behind the row that plays and the one under the pointer. */
  raised: string
  text: string
  muted: string
  /** Text and lines in the track's color. */
  accent: string
  /** The ground of the play button, and the icon on it. */
  button: string
  ink: string
  /** The part of the waveform that has not been played, and the rails of sliders. */
  rest: string
  line: string
}

const TEXT = 4.5
const CONTROL = 3
/** The default color on a dark ground, where the part that was played would otherwise be as grey as the rest. */
const FALLBACK_ON_DARK = '#C2CBD8'

/** A color of a cover as play views give it; fractions of 0–1, lightness and saturation of HSL. */
interface CoverColor {
  hex: string
  area: number
  lightness: number
  saturation: number
}

/** What a play view says of a track's colors. */
interface ColoredTrack {
  player_color: string | null
  image_colors: CoverColor[]
}

/** The color for a player: the one that was chosen for the track, else the strongest of its cover's. */
export function ownColor(chosen: string | null | undefined, cover: readonly CoverColor[] = []): string {
  if (isHex(chosen) && chosen.toUpperCase() !== DEFAULT_COLOR) return chosen
  // Greys and what is nearly black or white say nothing; of the others, a small strong spot counts like a large dull field.
  const strength = ({ area, lightness, saturation }: CoverColor) =>
    saturation * (1 - Math.abs(2 * lightness - 1)) * Math.sqrt(area)
  const strong = cover.filter(({ lightness, saturation }) => saturation >= 0.25 && lightness > 0.12 && lightness < 0.9)
  return strong.toSorted((a, b) => strength(b) - strength(a))[0]?.hex ?? DEFAULT_COLOR
}

/** The palette for any color, on a light or a dark ground that takes a breath of the cover's first color. */
export function palette(color: string | null | undefined, tint: string | null | undefined, dark: boolean): Palette {
  const hasOwn = isHex(color) && color.toUpperCase() !== DEFAULT_COLOR
  const own = hasOwn ? color : dark ? FALLBACK_ON_DARK : DEFAULT_COLOR
  const base = dark ? '#151518' : '#ffffff'
  const surface = mix(base, isHex(tint) ? tint : own, dark ? 0.1 : 0.035)
  const strong = dark ? '#f6f6f8' : '#141417'
  const raised = mix(surface, strong, 0.07)
  const button = readable(own, CONTROL, raised, surface)
  const text = readable(strong, TEXT, raised, surface)
  return {
    surface,
    raised,
    text,
    muted: readable(mix(surface, strong, 0.62), TEXT, raised, surface),
    accent: readable(own, TEXT, raised, surface),
    button,
    // An icon, for which 3:1 is enough; white on a color of middling lightness is what people are used to.
    ink: contrast('#ffffff', button) >= CONTROL ? '#ffffff' : inkOn(button),
    rest: readable(mix(mix(surface, strong, 0.34), own, 0.08), CONTROL, raised, surface),
    line: mix(surface, strong, 0.14),
  }
}

/**
 * The palette as a style sheet: a page may set `--tonearm-accent` and so on over `--_accent`. A sheet, because a strict
 * Content-Security-Policy refuses style attributes.
 */
export class Theme {
  readonly sheet = new CSSStyleSheet()
  #rules = ''
  /** Between two tracks the player keeps the colors of the first one, and does not flash. */
  #lastTrack: ColoredTrack | null = null

  /** Follows a player's theme, its accent and the track that it shows; whether that changed anything. */
  update(host: Element, track: ColoredTrack | undefined): boolean {
    this.#lastTrack = track ?? this.#lastTrack
    const theme = host.getAttribute('theme')
    const dark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
    const { player_color, image_colors } = this.#lastTrack ?? {}
    const color = host.getAttribute('accent') || ownColor(player_color, image_colors)
    const rules = rulesOf(color, image_colors?.[0]?.hex, dark)
    if (rules === this.#rules) return false
    this.#rules = rules
    this.sheet.replaceSync(rules)
    return true
  }
}

function rulesOf(color: string, tint: string | undefined, dark: boolean): string {
  const colors = Object.entries(palette(color, tint, dark)).map(([name, value]) => `--_${name}:${value}`)
  return `:host{color-scheme:${dark ? 'dark' : 'light'};${colors.join(';')}}`
}

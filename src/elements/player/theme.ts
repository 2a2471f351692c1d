import { DEFAULT_COLOR } from '../../contract/facts.ts'
import { contrast, inkOn, isHex, mix, readable } from '../shared/color.ts'

/** The colors of a player. All colors that are next to each other have the contrast that WCAG 2.2 requires (1.4.3 text, 1.4.11 controls). */
export interface Palette {
  surface: string
  /** Background of the current row and of the row under the pointer. */
  raised: string
  text: string
  muted: string
  /** The track's color for text and lines. */
  accent: string
  /** Background of the play button. */
  button: string
  /** Color of the play button's icon. */
  ink: string
  /** The unplayed part of the waveform, and the tracks of sliders. */
  rest: string
  line: string
}

const TEXT = 4.5
const CONTROL = 3
/** The default color on a dark background. With the normal default color, the played part of the waveform would be as gray as the unplayed part. */
const FALLBACK_ON_DARK = '#C2CBD8'

/** A color of a cover in a play view. The numbers are from 0 to 1; lightness and saturation are those of HSL. */
interface CoverColor {
  hex: string
  area: number
  lightness: number
  saturation: number
}

/** The fields of a track in a play view that determine its colors. */
interface ColoredTrack {
  player_color: string | null
  image_colors: CoverColor[]
}

/** Returns the color for a player: the color that was chosen for the track, or else the strongest color of its cover. */
export function trackColor(chosen: string | null | undefined, cover: readonly CoverColor[] = []): string {
  if (isHex(chosen) && chosen.toUpperCase() !== DEFAULT_COLOR) return chosen
  // Colors of medium lightness are the strongest. A small saturated spot is as strong as a large dull area. Grays and colors close to black
  // or white are excluded below.
  const strength = ({ area, lightness, saturation }: CoverColor) =>
    saturation * (1 - Math.abs(2 * lightness - 1)) * Math.sqrt(area)
  const strong = cover.filter(({ lightness, saturation }) => saturation >= 0.25 && lightness > 0.12 && lightness < 0.9)
  return strong.toSorted((a, b) => strength(b) - strength(a))[0]?.hex ?? DEFAULT_COLOR
}

/** Returns the palette for a color, with a light or dark background that is tinted with `tint`, the first color of the cover. */
export function palette(color: string | null | undefined, tint: string | null | undefined, dark: boolean): Palette {
  const hasColor = isHex(color) && color.toUpperCase() !== DEFAULT_COLOR
  const main = hasColor ? color : dark ? FALLBACK_ON_DARK : DEFAULT_COLOR
  const base = dark ? '#151518' : '#ffffff'
  const surface = mix(base, isHex(tint) ? tint : main, dark ? 0.1 : 0.035)
  const strong = dark ? '#f6f6f8' : '#141417'
  const raised = mix(surface, strong, 0.07)
  const button = readable(main, CONTROL, raised, surface)
  const text = readable(strong, TEXT, raised, surface)
  return {
    surface,
    raised,
    text,
    muted: readable(mix(surface, strong, 0.62), TEXT, raised, surface),
    accent: readable(main, TEXT, raised, surface),
    button,
    // A contrast of 3:1 is sufficient for an icon. White is preferred, because it is more common on colors of medium lightness.
    ink: contrast('#ffffff', button) >= CONTROL ? '#ffffff' : inkOn(button),
    rest: readable(mix(mix(surface, strong, 0.34), main, 0.08), CONTROL, raised, surface),
    line: mix(surface, strong, 0.14),
  }
}

/** Whether the cover fills the player. The controls are then on a dark gradient in every theme. */
export const isCover = (host: Element) => host.getAttribute('layout') === 'cover'

/**
 * Writes the palette to a style sheet. A page overrides `--_accent` with `--tonearm-accent`, and so on. Style attributes are not used,
 * because a strict Content-Security-Policy blocks them.
 */
export class Theme {
  readonly sheet = new CSSStyleSheet()
  #rules = ''
  /** The last track that was shown. Its colors are used while the next track loads, so that they do not flash. */
  #lastTrack: ColoredTrack | null = null

  /** Updates the style sheet for the theme, accent and track of a player. Returns whether the palette has changed. */
  update(host: Element, track: ColoredTrack | undefined): boolean {
    this.#lastTrack = track ?? this.#lastTrack
    const theme = host.getAttribute('theme')
    const isDark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
    const dark = isDark || isCover(host)
    const { player_color, image_colors } = this.#lastTrack ?? {}
    const color = host.getAttribute('accent') || trackColor(player_color, image_colors)
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

import { ownColor, palette } from './palette.ts'
import type { View } from './service.ts'

/**
 * The palette as a style sheet: a page may set `--tonearm-accent` and so on over `--_accent`. A sheet, because a strict
 * Content-Security-Policy refuses style attributes.
 */
export function createPaint() {
  const sheet = new CSSStyleSheet()
  let painted = ''
  /** Between two tracks the player keeps the colors of the first one, and does not flash. */
  let worn: View['track'] | null = null

  return {
    sheet,
    /** Paints a player for its theme, its accent and the track that it shows; whether that changed anything. */
    update(host: Element, track: View['track'] | undefined): boolean {
      worn = track ?? worn
      const theme = host.getAttribute('theme')
      const dark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
      const { player_color, image_colors } = worn ?? {}
      const color = host.getAttribute('accent') || ownColor(player_color, image_colors)
      const rules = rulesOf(color, image_colors?.[0]?.hex, dark)
      if (rules === painted) return false
      painted = rules
      sheet.replaceSync(rules)
      return true
    },
  }
}

function rulesOf(color: string, tint: string | undefined, dark: boolean): string {
  const colors = Object.entries(palette(color, tint, dark)).map(([name, value]) => `--_${name}:${value}`)
  return `:host{color-scheme:${dark ? 'dark' : 'light'};${colors.join(';')}}`
}

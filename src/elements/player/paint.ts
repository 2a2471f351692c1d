import { palette } from './palette.ts'

/**
 * The palette as a style sheet: a page may set `--tonearm-accent` and so on over `--_accent`. A sheet, because a strict
 * Content-Security-Policy refuses style attributes.
 */
export function paletteSheet(color: string | null | undefined, tint: string | null | undefined, dark: boolean): string {
  const colors = Object.entries(palette(color, tint, dark)).map(([name, value]) => `--_${name}:${value}`)
  return `:host{color-scheme:${dark ? 'dark' : 'light'};${colors.join(';')}}`
}

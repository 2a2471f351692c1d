/**
 * The drawing of a generated cover (docs/decisions/0094): two initials and a waveform on a ground whose color has the cover's hue. Everything is a line
 * with round ends, so that the SVG and the PNG (cover_png.ts) are drawn from the same few paths.
 */

/** Lines in the coordinates of `path`, which has only the commands M, L and A. They are multiplied by `scale` and moved to `x` and `y`. */
interface Lines {
  path: string
  scale: number
  x: number
  y: number
  /** Width of the lines in pixels of the drawing. */
  width: number
  color: string
}
export interface Drawing {
  ground: string
  lines: Lines[]
}

/** Width and height of the drawing. */
export const EDGE = 400

/** The letters as center lines, 100 units high, each with its width. */
const LETTERS: Record<string, [width: number, path: string]> = {
  A: [84, 'M0 100L42 0L84 100M14 66L70 66'],
  B: [64, 'M0 47L36 47A23.5 23.5 0 0 0 36 0L0 0L0 100L38 100A26.5 26.5 0 0 0 38 47'],
  C: [88, 'M88 18A50 50 0 1 0 88 82'],
  D: [80, 'M0 0L0 100L30 100A50 50 0 0 0 30 0L0 0'],
  E: [58, 'M58 0L0 0L0 100L58 100M0 49L50 49'],
  F: [56, 'M56 0L0 0L0 100M0 50L48 50'],
  G: [100, 'M88 18A50 50 0 1 0 100 50L60 50'],
  H: [74, 'M0 0L0 100M74 0L74 100M0 49L74 49'],
  I: [0, 'M0 0L0 100'],
  J: [46, 'M46 0L46 74A23 26 0 0 1 0 74'],
  K: [66, 'M0 0L0 100M62 0L0 60M22 39L66 100'],
  L: [54, 'M0 0L0 100L54 100'],
  M: [92, 'M0 100L0 0L46 70L92 0L92 100'],
  N: [74, 'M0 100L0 0L74 100L74 0'],
  O: [100, 'M50 0A50 50 0 1 0 50 100A50 50 0 1 0 50 0'],
  P: [64, 'M0 100L0 0L36 0A28 28 0 0 1 36 56L0 56'],
  Q: [100, 'M50 0A50 50 0 1 0 50 100A50 50 0 1 0 50 0M64 68L98 104'],
  R: [66, 'M0 100L0 0L36 0A28 28 0 0 1 36 56L0 56M34 56L66 100'],
  S: [60, 'M54 13A29 25 0 1 0 29 50A31 25 0 1 1 2 88'],
  T: [76, 'M0 0L76 0M38 0L38 100'],
  U: [72, 'M0 0L0 64A36 36 0 0 0 72 64L72 0'],
  V: [82, 'M0 0L41 100L82 0'],
  W: [120, 'M0 0L30 100L60 8L90 100L120 0'],
  X: [76, 'M0 0L76 100M76 0L0 100'],
  Y: [76, 'M0 0L38 52L76 0M38 52L38 100'],
  Z: [70, 'M0 0L70 0L0 100L70 100'],
}
/** Space between two letters, and the width of their lines, in units of the letters. */
const GAP = 30
const WEIGHT = 13

const BARS = 32
const MARGIN = 40

/** Converts a color from OKLCH, in which all hues are equally light, to hexadecimal sRGB (https://www.w3.org/TR/css-color-4/#color-conversion-code). */
export function hexColor(lightness: number, chroma: number, hue: number): string {
  const a = chroma * Math.cos((hue * Math.PI) / 180)
  const b = chroma * Math.sin((hue * Math.PI) / 180)
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  const channels = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((value) => {
    const encoded = value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055
    return Math.round(255 * Math.min(1, Math.max(0, encoded)))
      .toString(16)
      .padStart(2, '0')
  })
  return `#${channels.join('')}`
}

/** Draws a cover: initials of the letters A to Z, a hue in degrees, and up to 32 levels from 0 to f. */
export function drawCover(initials: string, hue: number, levels: string): Drawing {
  const letters = Array.from(initials, (letter) => LETTERS[letter]!)
  const hasLetters = letters.length > 0
  // Without initials, the waveform is larger and in the middle.
  const middle = hasLetters ? 308 : 200
  const room = hasLetters ? 96 : 220
  const pitch = (EDGE - 2 * MARGIN) / (BARS - 1)
  const bars = Array.from({ length: BARS }, (_, at) => {
    const half = ((Number.parseInt(levels[at] ?? '0', 16) / 15) * room) / 2
    const x = round(MARGIN + pitch * at)
    return `M${x} ${round(middle - half)}L${x} ${round(middle + half)}`
  })
  const waveform = { path: bars.join(''), scale: 1, x: 0, y: 0, width: 5.5, color: hexColor(0.78, 0.1, hue) }
  const width = letters.reduce((sum, [each]) => sum + each + GAP, -GAP)
  const scale = round(Math.min(1.35, 280 / width))
  let x = (EDGE - width * scale) / 2
  const lines = letters.map(([each, path]) => {
    const placed = { path, scale, x: round(x), y: round(148 - 50 * scale), width: WEIGHT * scale, color: '#ffffff' }
    x += (each + GAP) * scale
    return placed
  })
  return { ground: hexColor(0.4, 0.085, hue), lines: [waveform, ...lines] }
}
const round = (value: number) => Math.round(value * 100) / 100

/** Returns the drawing as an SVG image of this size. It contains nothing but numbers and paths. */
export function toSvg({ ground, lines }: Drawing, size: number): string {
  const paths = lines.map(
    ({ path, scale, x, y, width, color }) =>
      `<path d="${path}" stroke="${color}" stroke-width="${round(width / scale)}"${
        scale === 1 ? '' : ` transform="translate(${x} ${y}) scale(${scale})"`
      }/>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${EDGE} ${EDGE}" width="${size}" height="${size}"><path fill="${ground}" d="M0 0h${EDGE}v${EDGE}H0z"/><g fill="none" stroke-linecap="round" stroke-linejoin="round">${paths.join('')}</g></svg>`
}

import { type Drawing, EDGE } from './cover_drawing.ts'

/** Draws a generated cover as a PNG with a palette (https://www.w3.org/TR/png-3/), for readers that show no SVG. Loaded on demand. */

type Point = [x: number, y: number]

/** Shades between the ground and each color. */
const SHADES = 15
/** Straight parts of one arc. */
const ARC_STEPS = 28

/** Returns the points of an arc without its first (https://www.w3.org/TR/SVG2/implnote.html#ArcImplementationNotes). Its axes are not rotated. */
function arc([x0, y0]: Point, [rx = 0, ry = 0, , large = 0, sweep = 0, x1 = 0, y1 = 0]: number[]): Point[] {
  // In these coordinates, the ellipse is a circle with the radius 1.
  const dx = (x1 - x0) / rx / 2
  const dy = (y1 - y0) / ry / 2
  const distance = Math.hypot(dx, dy)
  const height = Math.sqrt(Math.max(0, 1 - distance ** 2)) * (large === sweep ? -1 : 1)
  const cx = (x0 + x1) / rx / 2 - (height * dy) / distance
  const cy = (y0 + y1) / ry / 2 + (height * dx) / distance
  const start = Math.atan2(y0 / ry - cy, x0 / rx - cx)
  let turn = Math.atan2(y1 / ry - cy, x1 / rx - cx) - start
  if (sweep === 1 && turn < 0) turn += 2 * Math.PI
  if (sweep === 0 && turn > 0) turn -= 2 * Math.PI
  return Array.from({ length: ARC_STEPS }, (_, at) => {
    const angle = start + (turn * (at + 1)) / ARC_STEPS
    return [rx * (cx + Math.cos(angle)), ry * (cy + Math.sin(angle))]
  })
}

/** Returns the straight parts of a path. */
function partsOf(path: string): [Point, Point][] {
  const parts: [Point, Point][] = []
  let last: Point = [0, 0]
  for (const [, command, numbers = ''] of path.matchAll(/([MLA])([^MLA]*)/g)) {
    const values = numbers.split(' ').map(Number)
    const points = command === 'A' ? arc(last, values) : [values as Point]
    for (const point of points) {
      if (command !== 'M') parts.push([last, point])
      last = point
    }
  }
  return parts
}

/** Draws a line with round ends. A pixel keeps the highest shade of all lines; `base` is the shade before the first one of this color. */
function drawLine(
  pixels: Uint8Array,
  size: number,
  [[x0, y0], [x1, y1]]: [Point, Point],
  radius: number,
  base: number,
) {
  const reach = radius + 1
  const dx = x1 - x0
  const dy = y1 - y0
  const length = dx * dx + dy * dy || 1
  const left = Math.max(0, Math.floor(Math.min(x0, x1) - reach))
  const right = Math.min(size - 1, Math.ceil(Math.max(x0, x1) + reach))
  const top = Math.max(0, Math.floor(Math.min(y0, y1) - reach))
  const bottom = Math.min(size - 1, Math.ceil(Math.max(y0, y1) + reach))
  for (let y = top; y <= bottom; y++) {
    for (let x = left; x <= right; x++) {
      const px = x + 0.5 - x0
      const py = y + 0.5 - y0
      const along = Math.min(1, Math.max(0, (px * dx + py * dy) / length))
      const distance = Math.sqrt((px - along * dx) ** 2 + (py - along * dy) ** 2)
      const shade = Math.round(SHADES * Math.min(1, radius + 0.5 - distance))
      const at = y * (size + 1) + x + 1
      if (shade > 0 && base + shade > pixels[at]!) pixels[at] = base + shade
    }
  }
}

/** Draws the lines. Each row starts with the byte for the filter, which is 0 for none. */
function pixelsOf({ lines }: Drawing, colors: string[], size: number): Uint8Array<ArrayBuffer> {
  const pixels = new Uint8Array(size * (size + 1))
  const zoom = size / EDGE
  for (const { path, scale, x, y, width, color } of lines) {
    const toPixels = ([px, py]: Point): Point => [(x + px * scale) * zoom, (y + py * scale) * zoom]
    for (const [from, to] of partsOf(path))
      drawLine(pixels, size, [toPixels(from), toPixels(to)], (width * zoom) / 2, colors.indexOf(color) * SHADES)
  }
  return pixels
}

const channelsOf = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))

/** Returns the ground, and the shades from the ground to each color. */
function paletteOf(ground: string, colors: string[]): number[] {
  const from = channelsOf(ground)
  const shades = colors.flatMap((color) => {
    const to = channelsOf(color)
    return Array.from({ length: SHADES }, (_, at) =>
      from.map((channel, n) => Math.round(channel + ((to[n]! - channel) * (at + 1)) / SHADES)),
    )
  })
  return [...from, ...shades.flat()]
}

function crc32(bytes: Uint8Array): number {
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

function chunk(type: string, data: Uint8Array | number[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(data.length + 12)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, data.length)
  bytes.set(new TextEncoder().encode(type), 4)
  bytes.set(data, 8)
  view.setUint32(data.length + 8, crc32(bytes.subarray(4, data.length + 8)))
  return bytes
}

/** Returns the drawing as a PNG image of this size. */
export async function toPng(drawing: Drawing, size: number): Promise<Blob> {
  const colors = [...new Set(drawing.lines.map(({ color }) => color))]
  const stream = new Blob([pixelsOf(drawing, colors, size)]).stream().pipeThrough(new CompressionStream('deflate'))
  const data = new Uint8Array(await new Response(stream).arrayBuffer())
  const edge = [24, 16, 8, 0].map((bits) => (size >> bits) & 255)
  return new Blob([
    new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]),
    // 8 bits per pixel, with a palette.
    chunk('IHDR', [...edge, ...edge, 8, 3, 0, 0, 0]),
    chunk('PLTE', paletteOf(drawing.ground, colors)),
    chunk('IDAT', data),
    chunk('IEND', []),
  ])
}

/**
 * Generates the QR code of a URL (ISO/IEC 18004) in byte mode with error correction level M. Versions 1 to 10 are supported, which hold at most 213
 * bytes. The mask is always 0, which every reader accepts.
 */

/** For each version: the total number of bytes, the number of error correction bytes per block, and the number of blocks. */
const VERSIONS = [
  [26, 10, 1],
  [44, 16, 1],
  [70, 26, 1],
  [100, 18, 2],
  [134, 24, 2],
  [172, 16, 4],
  [196, 18, 4],
  [242, 22, 4],
  [292, 22, 5],
  [346, 26, 5],
] as const
/** The format bits for error correction level M and mask 0. */
const FORMAT = 0b101010000010010

/** Multiplies two numbers in GF(256). */
function multiply(a: number, b: number): number {
  let product = 0
  for (let bit = 7; bit >= 0; bit--) product = (product << 1) ^ (product >> 7 ? 0x11d : 0) ^ ((b >> bit) & 1 ? a : 0)
  return product
}

/** Returns the error correction bytes of a block, which are its Reed–Solomon remainder. */
function correctionOf(data: readonly number[], degree: number): number[] {
  let divisor = [1]
  for (let i = 0, root = 1; i < degree; i++, root = multiply(root, 2))
    divisor = [...divisor, 0].map((factor, at) => factor ^ multiply(divisor[at - 1] ?? 0, root))
  const remainder = Array.from({ length: degree }, () => 0)
  for (const byte of data) {
    const factor = byte ^ remainder.shift()!
    remainder.push(0)
    for (let i = 0; i < degree; i++) remainder[i]! ^= multiply(divisor[i + 1]!, factor)
  }
  return remainder
}

const binary = (value: number, width: number) => value.toString(2).padStart(width, '0')

/** Returns all bits of a code in the order in which they are placed. */
function bitsOf(bytes: Uint8Array, version: number): string {
  const [total, degree, count] = VERSIONS[version - 1]!
  const dataBytes = total - degree * count
  const header = `0100${binary(bytes.length, version < 10 ? 8 : 16)}`
  const text = `${header + Array.from(bytes, (byte) => binary(byte, 8)).join('')}0000`.slice(0, dataBytes * 8)
  const data = (text.padEnd(Math.ceil(text.length / 8) * 8, '0').match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2))
  for (let i = 0; data.length < dataBytes; i++) data.push(i % 2 ? 0x11 : 0xec)
  // If the data cannot be divided evenly, each of the last blocks has one byte more.
  const starts = Array.from({ length: count + 1 }, (_, at) =>
    Math.max(0, at * Math.floor(dataBytes / count) + Math.max(0, at - count + (dataBytes % count))),
  )
  const blocks = starts.slice(1).map((end, at) => data.slice(starts[at], end))
  const corrections = blocks.map((block) => correctionOf(block, degree))
  const interleaved = [blocks, corrections].flatMap((rows) =>
    Array.from({ length: rows.at(-1)!.length }, (_, at) => rows.flatMap((row) => row.slice(at, at + 1))).flat(),
  )
  return interleaved.map((byte) => binary(byte, 8)).join('')
}

/** Returns the modules of a code in rows, true for dark modules; null if the text is too long. */
export function qrModules(text: string): boolean[][] | null {
  const bytes = new TextEncoder().encode(text)
  const version =
    VERSIONS.findIndex(([total, degree, count], at) => total - degree * count >= bytes.length + (at < 9 ? 2 : 3)) + 1
  if (version === 0) return null
  const size = 17 + 4 * version
  const rows: boolean[][] = Array.from({ length: size }, () => [])
  const set = (x: number, y: number, dark: boolean) => {
    if (x >= 0 && y >= 0 && x < size && y < size) rows[y]![x] = dark
  }
  /** Draws square rings around a center. `dark` lists the distances of the dark rings from the center. */
  const rings = (x: number, y: number, reach: number, dark: readonly number[]) => {
    for (let dy = -reach; dy <= reach; dy++)
      for (let dx = -reach; dx <= reach; dx++) set(x + dx, y + dy, dark.includes(Math.max(Math.abs(dx), Math.abs(dy))))
  }
  for (let i = 0; i < size; i++) {
    set(6, i, i % 2 === 0)
    set(i, 6, i % 2 === 0)
  }
  const centers = version === 1 ? [] : [6, ...(version < 7 ? [] : [(size - 1) / 2]), size - 7]
  for (const x of centers)
    for (const y of centers) if (x + y > 12 && Math.abs(x - y) < size - 13) rings(x, y, 2, [0, 2])
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    rings(x, y, 4, [0, 1, 3])
  for (let i = 0; i < 15; i++) {
    const dark = (FORMAT >> i) % 2 === 1
    set(8, i < 6 ? i : i < 8 ? i + 1 : size - 15 + i, dark)
    set(i < 8 ? size - 1 - i : i < 9 ? 7 : 14 - i, 8, dark)
  }
  set(8, size - 8, true)
  if (version >= 7) {
    let remainder = version
    for (let i = 0; i < 12; i++) remainder = (remainder << 1) ^ ((remainder >> 11) * 0x1f25)
    for (let i = 0; i < 18; i++) {
      const [a, b] = [size - 11 + (i % 3), Math.floor(i / 3)]
      const dark = (((version << 12) | remainder) >> i) % 2 === 1
      set(a, b, dark)
      set(b, a, dark)
    }
  }
  const bits = bitsOf(bytes, version)
  let at = 0
  for (let right = size - 1; right > 0; right -= right === 8 ? 3 : 2) {
    for (let step = 0; step < size; step++) {
      const y = (right > 6 ? size - 1 - right : size - 2 - right) % 4 === 0 ? size - 1 - step : step
      for (const x of [right, right - 1]) {
        if (rows[y]![x] === undefined) set(x, y, (bits[at++] === '1') !== ((x + y) % 2 === 0))
      }
    }
  }
  return rows
}

/** Returns the code as an SVG with the quiet zone that readers need; null if the text is too long. */
export function qrCode(text: string): string | null {
  const rows = qrModules(text)
  if (!rows) return null
  const side = rows.length + 8
  const path = rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + 4} ${y + 4}h1v1h-1z` : ''))).join('')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/><path d="${path}"/></svg>`
}

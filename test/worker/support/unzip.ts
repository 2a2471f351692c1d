import { expect } from 'vitest'

function crc32(bytes: Uint8Array): number {
  let crc = -1
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

/** Returns the files of a ZIP as listed in its central directory (APPNOTE 4.3.12), with their properties. */
export function unzip(zip: Uint8Array) {
  const view = new DataView(zip.buffer)
  const end = zip.length - 22
  expect(view.getUint32(end, true)).toBe(0x06054b50)
  const count = view.getUint16(end + 10, true)
  let at = view.getUint32(end + 16, true)
  return Array.from({ length: count }, () => {
    expect(view.getUint32(at, true)).toBe(0x02014b50)
    const [flags, method] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)]
    const [crc, stored, size] = [16, 20, 24].map((offset) => view.getUint32(at + offset, true))
    const [nameLength, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true))
    const local = view.getUint32(at + 42, true)
    const name = new TextDecoder().decode(zip.subarray(at + 46, at + 46 + nameLength!))
    at += 46 + nameLength! + extra! + comment!
    const data = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true)
    const bytes = zip.slice(data, data + size!)
    return {
      name,
      text: new TextDecoder().decode(bytes),
      isUtf8: (flags & 0x800) > 0,
      isStored: method === 0 && stored === size,
      isWhole: crc32(bytes) === crc,
    }
  })
}

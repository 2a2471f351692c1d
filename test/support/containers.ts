/** Parses the headers of encoded files. It uses no code of the product, so a bug there cannot hide itself. */

/**
 * The times of an MP4 with one track. Clocks are in ticks per second, and lengths are in ticks. An edit has a length
 * and a first tick in the media.
 */
export type MovieTimes = {
  clock: number
  length: number
  track: number
  edits: { length: number; from: number }[]
  media: { clock: number; length: number }
}

export function movieTimes(file: Buffer): MovieTimes {
  const box = (type: string, within = file) => {
    const at = within.indexOf(type, 0, 'latin1')
    return within.subarray(at + 4, at - 4 + within.readUInt32BE(at - 4))
  }
  const movie = box('moov')
  const [mvhd, tkhd, elst, mdhd] = [box('mvhd', movie), box('tkhd', movie), box('elst', movie), box('mdhd', movie)]
  const count = elst.readUInt32BE(4)
  return {
    clock: mvhd.readUInt32BE(12),
    length: mvhd.readUInt32BE(16),
    track: tkhd.readUInt32BE(20),
    edits: Array.from({ length: count }, (_, i) => ({
      length: elst.readUInt32BE(8 + 12 * i),
      from: elst.readInt32BE(12 + 12 * i),
    })),
    media: { clock: mdhd.readUInt32BE(12), length: mdhd.readUInt32BE(16) },
  }
}

/**
 * The times of an Opus file in WebM. Delay and padding are in nanoseconds, the pre-skip is in frames at 48 kHz, and
 * duration and blocks are in milliseconds.
 */
export type WebmTimes = { codecDelay: number; preSkip: number; duration: number; blocks: number[]; padding: number }

const PARENTS = new Set([0x18538067, 0x1549a966, 0x1654ae6b, 0xae, 0x1f43b675, 0xa0])

export function webmTimes(file: Buffer): WebmTimes {
  const times: WebmTimes = { codecDelay: 0, preSkip: -1, duration: 0, blocks: [], padding: 0 }
  let cluster = 0
  const number = (bytes: Buffer) => bytes.reduce((value, byte) => value * 256 + byte, 0)
  const walk = (bytes: Buffer) => {
    for (let at = 0; at < bytes.length;) {
      const idLength = Math.clz32(bytes[at]!) - 23
      const id = bytes.readUIntBE(at, idLength)
      const sized = bytes[at + idLength]!
      const start = at + idLength + Math.clz32(sized) - 23
      // Removes the bit that marks the length of the field, because a number cannot represent all 8 bytes exactly.
      const first = sized & (0x7f >> (Math.clz32(sized) - 24))
      const size = number(Buffer.from([first, ...bytes.subarray(at + idLength + 1, start)]))
      const content = bytes.subarray(start, start + size)
      if (PARENTS.has(id)) walk(content)
      if (id === 0x2ad7b1 && number(content) !== 1e6) throw new Error('The clock does not count milliseconds.')
      if (id === 0x4489) times.duration = content.readDoubleBE()
      if (id === 0x56aa) times.codecDelay = number(content)
      if (id === 0x63a2) times.preSkip = content.readUInt16LE(10)
      if (id === 0xe7) cluster = number(content)
      if (id === 0xa3 || id === 0xa1) times.blocks.push(cluster + content.readInt16BE(1))
      if (id === 0x75a2) times.padding += number(content)
      at = start + size
    }
  }
  walk(file)
  return times
}

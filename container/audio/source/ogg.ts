import { type FileHandle, open } from 'node:fs/promises'

/**
 * A chained Ogg file consists of several streams, one after the other (RFC 3533 §4), for example the pieces of a recorded radio stream. ffmpeg detects a new
 * stream only by its serial number. If all pieces have the same one, as joined copies do, it decodes the headers of a piece as audio, and the times jump
 * back.
 */

const CAPTURE = Buffer.from('OggS')
const HEADER_BYTES = 27
/** Positions of the serial number and the checksum in a page. */
const [SERIAL, CHECKSUM] = [14, 22]
const IS_FIRST_PAGE = 2
/** Size of a read in bytes. The longest page has 65,307 bytes. */
const CHUNK_BYTES = 1024 * 1024
/** Maximum number of pieces that get another serial number. */
const MAX_PIECES = 10_000
/** Bytes of checksums of false pages, after which the rest of the file stays as it is. A file can have the capture pattern everywhere. */
const MAX_WASTED = 4 * 1024 * 1024

/**
 * Gives each piece of a chained file another serial number, in the file itself. Returns whether the file is chained. Files with several streams at once,
 * such as a video, keep their numbers, because ffmpeg cannot change the streams of those.
 */
export async function separatePieces(path: string, signal: AbortSignal): Promise<boolean> {
  const file = await open(path, 'r+')
  try {
    const pieces = createPieces()
    const chunk = Buffer.alloc(CHUNK_BYTES)
    for (let position = 0; ;) {
      signal.throwIfAborted()
      const filled = await fill(file, chunk, position)
      const isEnd = filled < CHUNK_BYTES
      const { used, isChanged } = pieces.read(chunk.subarray(0, filled), isEnd)
      if (isChanged) await file.write(chunk, 0, used, position)
      if (isEnd || pieces.hasToStop()) return pieces.isChained()
      position += used
    }
  } finally {
    await file.close()
  }
}

async function fill(file: FileHandle, chunk: Buffer, position: number): Promise<number> {
  let filled = 0
  while (filled < chunk.length) {
    const { bytesRead } = await file.read(chunk, filled, chunk.length - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled
}

function createPieces() {
  const serials = new Set<number>()
  let streamsAtOnce = 0
  let hasAudio = false
  /** The serial number of the current piece in the file, and the one that it gets. */
  let [from, to] = [-1, -1]
  let isChained = false
  let wasted = 0

  /** Handles one page. Returns whether it was changed. */
  function readPage(page: Buffer): boolean {
    const serial = page.readUInt32LE(SERIAL)
    if (page[5]! & IS_FIRST_PAGE) {
      if (!hasAudio) streamsAtOnce++
      else if (streamsAtOnce === 1) isChained = true
      from = serial
      to = serial
      while (serials.has(to) && serials.size < MAX_PIECES) to = (to + serials.size) % 2 ** 32
      serials.add(to)
    } else hasAudio = true
    if (serial !== from || to === from || !isChained) return false
    page.writeUInt32LE(to, SERIAL)
    page.writeUInt32LE(checksum(page), CHECKSUM)
    return true
  }

  return {
    isChained: () => isChained,
    hasToStop: () => streamsAtOnce > 1 || wasted > MAX_WASTED,
    /** Changes the pages in a part of the file. Returns the number of bytes up to the first page that is not complete. */
    read(bytes: Buffer, isEnd: boolean): { used: number; isChanged: boolean } {
      let isChanged = false
      let at = 0
      for (;;) {
        const start = bytes.indexOf(CAPTURE, at)
        if (start < 0 || wasted > MAX_WASTED)
          return { used: isEnd ? bytes.length : Math.max(at, bytes.length - CAPTURE.length + 1), isChanged }
        const end = pageEnd(bytes, start)
        if (end + CAPTURE.length > bytes.length && !isEnd) return { used: start, isChanged }
        const page = bytes.subarray(start, end)
        // If no page follows, this one can be cut off. In that case, the next page starts within it.
        const isFollowed = bytes.subarray(end, end + CAPTURE.length).equals(CAPTURE)
        const isPage = end <= bytes.length && (isFollowed || page.readUInt32LE(CHECKSUM) === checksum(page))
        if (isPage && readPage(page)) isChanged = true
        if (!isPage) wasted += page.length
        at = isPage ? end : start + CAPTURE.length
      }
    },
  }
}

/** Returns the position after a page, which can be after the end of the bytes. */
function pageEnd(bytes: Buffer, start: number): number {
  const segments = bytes[start + HEADER_BYTES - 1] ?? 255
  const content = start + HEADER_BYTES + segments
  let end = content
  for (let i = start + HEADER_BYTES; i < content; i++) end += bytes[i] ?? 0
  return end
}

const POLYNOMIAL = 0x04c11db7
const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 24
  for (let bit = 0; bit < 8; bit++) sum = (sum << 1) ^ (sum < 0 ? POLYNOMIAL : 0)
  return sum
})

/** Computes the checksum of a page, as if its field for the checksum was 0 (RFC 3533 §6). */
function checksum(page: Buffer): number {
  let sum = 0
  for (let at = 0; at < page.length; at++) {
    const byte = at >= CHECKSUM && at < CHECKSUM + 4 ? 0 : page[at]!
    sum = (sum << 8) ^ TABLE[(sum >>> 24) ^ byte]!
  }
  return sum >>> 0
}

import { open } from 'node:fs/promises'

/** Number of bytes to read. ffmpeg writes every box that is needed here at the start of the file, before the sample tables. */
const HEAD_BYTES = 65_536

type Box = { type: string; start: number; end: number }

/**
 * Sets the movie timescale of a single-track M4A to the track's own rate. By default, ffmpeg uses milliseconds (`-movie_timescale` needs
 * version 4.4). Browsers stop at the end of the edit list, so playback would end up to 1 ms early. `seconds` is the end of the audio, if
 * that is before the last sample. Throws if the header differs from the header that ffmpeg writes (ISO/IEC 14496-12 §8).
 */
export async function setMovieClock(path: string, seconds = Infinity): Promise<void> {
  const file = await open(path, 'r+')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    const head = buffer.subarray(0, bytesRead)
    const movie = onlyBox(head, { type: 'file', start: 0, end: head.length }, 'moov')
    const track = onlyBox(head, movie, 'trak')
    const [mvhd, tkhd] = [onlyBox(head, movie, 'mvhd'), onlyBox(head, track, 'tkhd')]
    const elst = onlyBox(head, onlyBox(head, track, 'edts'), 'elst')
    const mdhd = onlyBox(head, onlyBox(head, track, 'mdia'), 'mdhd')
    // Only version 0 of these boxes is supported. Its fields have 32 bits, which is enough for 24 hours at 48 kHz.
    const isSupported = [mvhd, tkhd, elst, mdhd].every(
      ({ start, end: boxEnd }) => head[start] === 0 && boxEnd <= head.length,
    )
    if (!isSupported || head.readUInt32BE(elst.start + 4) !== 1) throw new Error('The M4A header is not as expected.')
    const [timescale, length] = [head.readUInt32BE(mdhd.start + 12), head.readUInt32BE(mdhd.start + 16)]
    const skipped = head.readInt32BE(elst.start + 12)
    const frames = Math.min(length - Math.max(0, skipped), Math.round(seconds * timescale))
    head.writeUInt32BE(timescale, mvhd.start + 12)
    for (const offset of [mvhd.start + 16, tkhd.start + 20, elst.start + 8]) head.writeUInt32BE(frames, offset)
    await file.write(head, 0, elst.end, 0)
  } finally {
    await file.close()
  }
}

/** Returns the only box of a type inside another box. */
function onlyBox(head: Buffer, { start, end }: Box, type: string): Box {
  const boxes: Box[] = []
  for (let offset = start; offset + 8 <= Math.min(end, head.length);) {
    const size = head.readUInt32BE(offset)
    // Sizes 0 and 1 have a special meaning. In these files, only `mdat` may use them, and it follows all boxes that are needed.
    if (size < 8) break
    if (head.toString('latin1', offset + 4, offset + 8) === type)
      boxes.push({ type, start: offset + 8, end: offset + size })
    offset += size
  }
  if (boxes.length !== 1) throw new Error(`The M4A header has ${boxes.length} boxes of type ${type}.`)
  return boxes[0]!
}

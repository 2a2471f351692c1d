import { open } from 'node:fs/promises'

/** ffmpeg writes all that is read here at the front of the file, before the tables of samples. */
const HEAD_BYTES = 65_536

type Box = { type: string; start: number; end: number }

/**
 * Sets the clock of an M4A with one track to the track's own rate. ffmpeg counts milliseconds there unless `-movie_timescale` is given,
 * which versions before 4.4 do not know, and browsers end the audio at the edit list: up to 1 ms early. `seconds`: where
 * the audio ends, if that is before the last sample. Throws when the header is not what ffmpeg writes (ISO/IEC 14496-12 §8).
 */
export async function setMovieClock(path: string, seconds = Infinity): Promise<void> {
  const file = await open(path, 'r+')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    const head = buffer.subarray(0, bytesRead)
    const movie = one(head, { type: 'file', start: 0, end: head.length }, 'moov')
    const track = one(head, movie, 'trak')
    const [mvhd, tkhd] = [one(head, movie, 'mvhd'), one(head, track, 'tkhd')]
    const elst = one(head, one(head, track, 'edts'), 'elst')
    const mdhd = one(head, one(head, track, 'mdia'), 'mdhd')
    // Version 0 of these boxes has fields of 32 bits: 24 hours at 48 kHz.
    const isKnown = [mvhd, tkhd, elst, mdhd].every(({ start, end: last }) => head[start] === 0 && last <= head.length)
    if (!isKnown || head.readUInt32BE(elst.start + 4) !== 1) throw new Error('The M4A header is not as expected.')
    const [timescale, length] = [head.readUInt32BE(mdhd.start + 12), head.readUInt32BE(mdhd.start + 16)]
    const skipped = head.readInt32BE(elst.start + 12)
    const frames = Math.min(length - Math.max(0, skipped), Math.round(seconds * timescale))
    head.writeUInt32BE(timescale, mvhd.start + 12)
    for (const at of [mvhd.start + 16, tkhd.start + 20, elst.start + 8]) head.writeUInt32BE(frames, at)
    await file.write(head, 0, elst.end, 0)
  } finally {
    await file.close()
  }
}

/** The only box of a type among those inside another. */
function one(head: Buffer, { start, end }: Box, type: string): Box {
  const found: Box[] = []
  for (let at = start; at + 8 <= Math.min(end, head.length);) {
    const size = head.readUInt32BE(at)
    // 0 and 1 stand for sizes that only `mdat` may have here, behind all that is wanted.
    if (size < 8) break
    if (head.toString('latin1', at + 4, at + 8) === type) found.push({ type, start: at + 8, end: at + size })
    at += size
  }
  if (found.length !== 1) throw new Error(`The M4A header has ${found.length} boxes of type ${type}.`)
  return found[0]!
}

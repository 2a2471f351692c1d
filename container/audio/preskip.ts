import { open } from 'node:fs/promises'

/**
 * WebM timestamps are in milliseconds, but the look-ahead of libopus is 6.5 ms. ffmpeg's muxer rounds it, so all blocks except the first
 * are 1 ms late, and Chromium 156 and later drops 24 frames of sound. With 24 frames of silence before the sound and a pre-skip of 7 ms,
 * nothing is rounded.
 */

/** Numbers of frames at 48 kHz: the look-ahead of libopus, the pre-skip that replaces it, and the silence that fills the difference. */
const LOOK_AHEAD = 312
const PRE_SKIP = 336
const SILENCE = PRE_SKIP - LOOK_AHEAD
const FRAMES_PER_MS = 48
const NS_PER_MS = 1_000_000

/**
 * ffmpeg expression that is true in the first filter graph of a file, and false in the graphs that ffmpeg creates when the format changes
 * within the source.
 */
const IS_FIRST = "'if(eq(n,0),st(0,lt(t,0.01)),ld(0))'"

/**
 * Returns filters that insert the silence before the sound of a mono or stereo file, and keep its first timestamp at 0. An extra channel
 * without a delay makes `adelay` wait for the first frame; otherwise it would output the silence before it knows whether this graph is the
 * first. The frames that `adelay` appends to a later graph have no usable timestamps, so each frame is placed directly after the previous
 * frame.
 */
export function preSkipFilters(channels: number): string[] {
  const [withExtraChannel, withoutExtraChannel] =
    channels === 1 ? ['stereo|c0=c0|c1=c0', 'mono|c0=c0'] : ['2.1|c0=c0|c1=c1|c2=c1', 'stereo|c0=c0|c1=c1']
  const delays = [...Array.from({ length: channels }, () => `${SILENCE}S`), '0'].join('|')
  const shifted = `PTS-${SILENCE}`
  return [
    'aresample=48000',
    `pan=${withExtraChannel}`,
    `adelay=${delays}:enable=${IS_FIRST}`,
    `pan=${withoutExtraChannel}`,
    `asetpts='st(1,if(N,max(${shifted},ld(0)),${shifted}));st(0,ld(1)+NB_SAMPLES);ld(1)'`,
  ]
}

/** Number of bytes to read. They contain the header and the elements before the audio data. */
const HEAD_BYTES = 65_536

const SEGMENT = 0x18538067
const INFO = 0x1549a966
const DURATION = 0x4489
const TRACKS = 0x1654ae6b
const TRACK = 0xae
const CODEC_DELAY = 0x56aa
const CODEC_PRIVATE = 0x63a2

type Element = { id: number; start: number; end: number }

/**
 * Writes the longer pre-skip into a WebM Opus file that was encoded with `preSkipFilters` (RFC 9559 §5.1.4.1.28, RFC 7845 §5.1). Also
 * subtracts the pre-skip from the duration, because ffmpeg includes it. Throws if the header states a different look-ahead.
 */
export async function writePreSkip(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    const head = buffer.subarray(0, bytesRead)
    const segment = onlyElement(head, { id: 0, start: 0, end: head.length }, SEGMENT)
    const track = onlyElement(head, onlyElement(head, segment, TRACKS), TRACK)
    const duration = onlyElement(head, onlyElement(head, segment, INFO), DURATION)
    const [delay, codec] = [onlyElement(head, track, CODEC_DELAY), onlyElement(head, track, CODEC_PRIVATE)]
    const bytes = delay.end - delay.start
    const isOpus = codec.end <= head.length && head.toString('latin1', codec.start, codec.start + 8) === 'OpusHead'
    const expected = (LOOK_AHEAD / FRAMES_PER_MS) * NS_PER_MS
    const isDouble = duration.end - duration.start === 8
    if (!isOpus || !isDouble || bytes > 6 || head.readUIntBE(delay.start, bytes) !== expected) {
      throw new Error('The WebM header is not as expected.')
    }
    const preSkip = codec.start + 10
    if (head.readUInt16LE(preSkip) !== LOOK_AHEAD) throw new Error('The encoder of Opus looks ahead by another time.')
    head.writeUInt16LE(PRE_SKIP, preSkip)
    head.writeUIntBE((PRE_SKIP / FRAMES_PER_MS) * NS_PER_MS, delay.start, bytes)
    head.writeDoubleBE(Math.max(0, head.readDoubleBE(duration.start) - PRE_SKIP / FRAMES_PER_MS), duration.start)
    await file.write(head, 0, Math.max(codec.end, delay.end), 0)
  } finally {
    await file.close()
  }
}

/** Returns the only element with this id inside another element (RFC 8794 §4). */
function onlyElement(head: Buffer, { start, end }: Element, id: number): Element {
  const elements: Element[] = []
  for (let at = start; at < Math.min(end, head.length - 16);) {
    const name = vint(head, at)
    const size = vint(head, at + name.length)
    const content = at + name.length + size.length
    // If all bits are set, the length is unknown, and the element extends to the end of its parent.
    const isOpen = size.value === 2 ** (7 * size.length) - 1
    const last = isOpen ? end : content + size.value
    if (name.marked === id) elements.push({ id, start: content, end: last })
    at = last
  }
  if (elements.length !== 1)
    throw new Error(`The WebM header has ${elements.length} elements with id ${id.toString(16)}.`)
  return elements[0]!
}

/** Reads an integer of variable length. `marked` includes the bit that marks the length, as ids do. */
function vint(head: Buffer, at: number): { length: number; marked: number; value: number } {
  const length = Math.clz32(head[at]!) - 23
  if (length > 8) throw new Error('The WebM header is damaged.')
  let [marked, value] = [head[at]!, head[at]! & (0xff >> length)]
  for (let i = 1; i < length; i++) {
    marked = marked * 256 + head[at + i]!
    value = value * 256 + head[at + i]!
  }
  return { length, marked, value }
}

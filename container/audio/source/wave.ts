import { type FileHandle, open } from 'node:fs/promises'

/**
 * The correct properties of a WAV file whose header ffmpeg misinterprets, because it uses the valid bits of a sample as the width of its
 * container.
 */
export type PaddedWave = {
  decoder: string
  validBits: number
  bytesPerSecond: number
  /** Total size of the samples in bytes, as stated by the header; null if unknown. */
  size: number | null
}

const EXTENSIBLE = 0xfffe
const PCM = 1
/** Sample widths that ffmpeg can decode, in bits. */
const WIDTHS = [16, 24, 32]
const MAX_CHUNKS = 64

/**
 * Reads the header of a file. Returns null unless the file is a WAV whose samples have fewer bits than their container
 * (WAVEFORMATEXTENSIBLE).
 */
export async function readPaddedWave(path: string): Promise<PaddedWave | null> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    let format: Omit<PaddedWave, 'size'> | null = null
    let at = 12
    for (let chunks = 0; chunks < MAX_CHUNKS && at + 8 <= size; chunks++) {
      const head = await bytesAt(file, at, 8)
      const [name, length] = [head.toString('latin1', 0, 4), head.readUInt32LE(4)]
      if (name === 'fmt ') {
        format = parsePaddedFormat(await bytesAt(file, at + 8, 40))
        if (!format) return null
      }
      if (name === 'data') return format && { ...format, size: isPlaceholder(length) ? null : length }
      at += 8 + length + (length % 2)
    }
    return null
  } finally {
    await file.close()
  }
}

// Whether a length is only a placeholder. The length of a WAV that was written to a pipe is unknown, and RF64 stores the length elsewhere.
const isPlaceholder = (length: number) => length === 0 || length >= 0x7fff0000

function parsePaddedFormat(format: Buffer) {
  if (format.length < 40 || format.readUInt16LE(0) !== EXTENSIBLE || format.readUInt16LE(24) !== PCM) return null
  const [rate, block] = [format.readUInt32LE(4), format.readUInt16LE(12)]
  const [bits, validBits] = [format.readUInt16LE(14), format.readUInt16LE(18)]
  const isPadded = WIDTHS.includes(bits) && validBits > 0 && validBits < bits
  if (!isPadded || block !== (format.readUInt16LE(2) * bits) / 8 || rate === 0) return null
  return { decoder: `pcm_s${bits}le`, validBits, bytesPerSecond: rate * block }
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

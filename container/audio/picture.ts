import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { COVER_SIZES, MAX_COVER_BYTES } from '../../src/contract/facts.ts'
import type { JobPicture } from '../../src/contract/job.ts'
import { openRequest } from '../transfer/http.ts'

/** File name of the picture in the job's directory. */
export const PICTURE_FILE = 'picture'

/** Timeout for the download of the picture in seconds. After that, the files are written without it. */
const TIMEOUT_SECONDS = 20

/**
 * Writes the picture for the audio files into the job's directory. Returns false if there is no picture. A failed download never fails the
 * job.
 */
export async function writePicture(
  directory: string,
  requested: JobPicture | null,
  embedded: Uint8Array | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const jpeg = embedded ?? (requested?.url ? await fetchPicture(requested.url, signal).catch(() => null) : null)
  signal.throwIfAborted()
  if (!jpeg) return false
  await writeFile(join(directory, PICTURE_FILE), pictureFile(jpeg))
  return true
}

async function fetchPicture(url: string, signal: AbortSignal): Promise<Uint8Array | null> {
  const abortSignal = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_SECONDS * 1000)])
  return new Promise((resolve, reject) => {
    const request = openRequest(url, { signal: abortSignal })
    request.on('error', reject)
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('error', reject)
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        size += chunk.length
        if (size > MAX_COVER_BYTES) request.destroy(new Error('too large'))
      })
      response.on('end', () => resolve(response.statusCode === 200 && size > 0 ? Buffer.concat(chunks) : null))
    })
    request.end()
  })
}

/**
 * Wraps a JPEG in a FLAC file without audio, whose picture block states the dimensions (RFC 9639 §8.2, §8.8). This lets ffmpeg copy
 * the picture without an image decoder.
 */
function pictureFile(jpeg: Uint8Array): Buffer {
  const uint32 = (...values: number[]) => {
    const bytes = Buffer.alloc(4 * values.length)
    values.forEach((value, at) => bytes.writeUInt32BE(value, 4 * at))
    return bytes
  }
  const block = (type: number, ...parts: Uint8Array[]) => {
    const body = Buffer.concat(parts)
    return Buffer.concat([uint32(type * 2 ** 24 + body.length), body])
  }
  // The stream info block states 44.1 kHz, one channel, 16 bits, and no samples.
  const stream = Buffer.concat([
    Buffer.from('10001000000000000000', 'hex'),
    Buffer.from('0ac440f000000000', 'hex'),
    Buffer.alloc(16),
  ])
  const type = Buffer.from('image/jpeg')
  const edge = COVER_SIZES.regular
  const LAST_BLOCK = 0x80
  return Buffer.concat([
    Buffer.from('fLaC'),
    block(0, stream),
    block(LAST_BLOCK | 6, uint32(3, type.length), type, uint32(0, edge, edge, 24, 0, jpeg.length), jpeg),
  ])
}

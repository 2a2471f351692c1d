import { open } from 'node:fs/promises'

import { sniff, type Sniffed } from '../../../src/contract/sniff.ts'
import { HEAD_BYTES } from '../../../src/contract/text.ts'
import { JobError } from '../../job_error.ts'

/** Detects the demuxer for a file from its first bytes. Throws if the file is not audio, so that other files never reach ffmpeg. */
export async function sniffFile(path: string): Promise<Sniffed> {
  const file = await open(path)
  try {
    const read = async (position: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, position)
      return buffer.subarray(0, bytesRead)
    }
    const sniffed = await sniff(read, (await file.stat()).size)
    if ('code' in sniffed) throw new JobError(sniffed.code, sniffed.message)
    return sniffed
  } finally {
    await file.close()
  }
}

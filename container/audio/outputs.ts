import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { AudioCodec } from '../../src/contract/facts.ts'
import type { JobVariant, MadeVariant } from '../../src/contract/job.ts'
import { failpoint } from '../failpoint.ts'
import { uploadOutput } from '../transfer/upload.ts'
import { type CheckContext, findFaults, type WrittenFile } from './check.ts'
import type { EncodeResult } from './encode.ts'
import { setMovieClock } from './movie_clock.ts'
import type { Encode } from './plan.ts'
import { writePreSkip } from './preskip.ts'

/** An output file on disk. `bitrate` is in kbit/s, `duration` in seconds, and `size` in bytes. */
export type OutputFile = {
  variant: JobVariant
  file: string
  size: number
  bitrate: number
  duration: number
  /** The file as it was uploaded; null if it is not uploaded yet. */
  uploaded: Pick<MadeVariant, 'size' | 'parts'> | null
}

type Failed = EncodeResult['failed']

/** Functions that correct the headers of finished files, because ffmpeg rounds durations. */
const HEADERS: Partial<Record<AudioCodec, (path: string) => Promise<void>>> = { aac: setMovieClock, opus: writePreSkip }

/**
 * Returns the audio files that ffmpeg produced and those that failed the check. `fullDuration` is the duration of the source in seconds.
 */
export async function audioFiles(
  variants: JobVariant[],
  encoded: EncodeResult,
  fullDuration: number,
  checking: CheckContext,
) {
  const uploadedAs = (index: string) => (encoded.uploaded?.index === index ? encoded.uploaded : null)
  const written = encoded.made.map((encode) => {
    const { cut } = encode
    return { encode, length: cut ? Math.min(cut.length, Math.max(0, fullDuration - cut.start)) : fullDuration }
  })
  const faults = await finishFiles(written, (encode) => uploadedAs(encode.index) !== null, checking)
  const files: OutputFile[] = []
  const failed: Failed = []
  for (const { encode, length: duration } of written) {
    const { index, bitrate } = encode
    const message = faults.get(encode)
    const file = join(checking.directory, encode.file)
    const { size } = await stat(file).catch(() => ({ size: 0 }))
    const variant = variants.find((candidate) => candidate.index === index)
    if (message || !variant || size === 0) {
      failed.push({ index, message: message ?? 'The file came out empty.' })
      continue
    }
    const average = Math.round((size * 8) / 1000 / duration)
    const properties = { size, bitrate: bitrate || average, duration: Math.round(duration * 1000) / 1000 }
    files.push({ variant, file, ...properties, uploaded: uploadedAs(index) })
  }
  return { files, failed }
}

/** Corrects the headers of files, unless they are already uploaded, and checks all of them. Returns what is wrong with the faulty ones. */
async function finishFiles(
  written: WrittenFile[],
  isUploaded: (encode: Encode) => boolean,
  checking: CheckContext,
): Promise<Map<Encode, string>> {
  const faults = new Map<Encode, string>()
  const finish = async ({ encode, length }: WrittenFile) => {
    if (length === 0) return void faults.set(encode, 'The file came out empty.')
    if (isUploaded(encode)) return
    const path = join(checking.directory, encode.file)
    await HEADERS[encode.codec]?.(path).catch((error: Error) => faults.set(encode, error.message))
  }
  await Promise.all(written.map(finish))
  const finished = written.filter(({ encode }) => !faults.has(encode))
  const found = await findFaults(finished, checking)
  for (const [i, { encode }] of finished.entries()) if (found[i]) faults.set(encode, found[i])
  return faults
}

/** Writes the requested JSON variants. */
export async function dataFiles(
  variants: JobVariant[],
  directory: string,
  duration: number,
  makers: Record<'waveform' | 'analysis', () => object>,
): Promise<OutputFile[]> {
  const files: OutputFile[] = []
  for (const variant of variants) {
    if (variant.kind !== 'waveform' && variant.kind !== 'analysis') continue
    const file = join(directory, `${variant.index}.json`)
    const json = JSON.stringify(makers[variant.kind]())
    await writeFile(file, json)
    files.push({ variant, file, size: Buffer.byteLength(json), bitrate: 0, duration, uploaded: null })
  }
  return files
}

const UPLOADS_AT_ONCE = 4

/** Uploads all files, several at a time. The first failure aborts the other uploads. */
export async function uploadAll(
  files: OutputFile[],
  signal: AbortSignal,
  onProgress: (fraction: number) => void,
): Promise<MadeVariant[]> {
  const made = new Map<string, MadeVariant>()
  const queue = [...files]
  const failure = new AbortController()
  const abortSignal = AbortSignal.any([signal, failure.signal])
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { variant, file, size, bitrate, duration, uploaded } = next
      const { parts } = uploaded ?? (await uploadOutput(file, variant, abortSignal))
      failpoint('file_uploaded')
      made.set(variant.index, { index: variant.index, size, bitrate, duration, ...(parts && { parts }) })
      onProgress(made.size / files.length)
    }
  }
  try {
    await Promise.all(Array.from({ length: UPLOADS_AT_ONCE }, worker))
  } finally {
    failure.abort()
  }
  return files.flatMap(({ variant }) => made.get(variant.index) ?? [])
}

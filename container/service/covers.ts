import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { MAX_COVER_BYTES } from '../../src/contract/facts.ts'
import type { CoverAnswer, CoverJob, CoverResult } from '../../src/contract/job.ts'
import { uploadCover } from '../audio/cover.ts'
import type { DecodeCover } from '../audio/cover_decoder.ts'
import { COVER_PREFIX } from '../disk.ts'
import { JobError } from '../job_error.ts'
import { log } from '../log.ts'
import { download, type DownloadLimits } from '../transfer/download.ts'

type CoverFailure = Extract<CoverAnswer, { ok: false }>['error']

const CONCURRENCY = 2

/** Runs cover jobs, two at a time, in parallel with the transcodes. */
export function createCovers(workDir: string, limits: DownloadLimits, decodeCover: DecodeCover) {
  const queue: (() => void)[] = []
  let running = 0

  async function fetchAndCut({ source, outputs }: CoverJob, signal: AbortSignal) {
    const { size } = source
    if (size === 0) throw new JobError('unsupported_image', 'The image is empty.')
    if (size > MAX_COVER_BYTES)
      throw new JobError('image_too_large', `The image is larger than ${MAX_COVER_BYTES / 1e6} MB.`)
    const directory = await mkdtemp(join(workDir, COVER_PREFIX))
    try {
      const path = join(directory, 'src')
      await download(source, path, { signal, limits })
      return await uploadCover(await decodeCover(await readFile(path), signal), outputs, signal)
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  }

  return async function runQueued(job: CoverJob, signal: AbortSignal): Promise<CoverAnswer> {
    // A job that ends passes its slot to the first job in the queue.
    if (running === CONCURRENCY) await new Promise<void>((resolve) => queue.push(resolve))
    else running++
    try {
      return await answerOf(() => fetchAndCut(job, signal))
    } finally {
      const next = queue.shift()
      if (next) next()
      else running--
    }
  }
}

async function answerOf(make: () => Promise<CoverResult>): Promise<CoverAnswer> {
  const started = Date.now()
  try {
    const result = await make()
    log('cover_done', { seconds: (Date.now() - started) / 1000, colors: result.image_colors.length })
    return { ok: true, result }
  } catch (thrown) {
    const error = toCoverFailure(thrown)
    log('cover_failed', { seconds: (Date.now() - started) / 1000, code: error.code })
    return { ok: false, error }
  }
}

// Converts a thrown value to a failure of a cover job. Some error codes exist only for audio.
function toCoverFailure(thrown: unknown): CoverFailure {
  if (!(thrown instanceof JobError)) return { code: 'internal', message: 'The transcoder failed.', retryable: true }
  const isKnown = Object.hasOwn(STATUSES, thrown.code)
  const code = thrown.code.startsWith('source_')
    ? 'source_unavailable'
    : isKnown
      ? (thrown.code as CoverFailure['code'])
      : 'internal'
  return { code, message: thrown.message, retryable: thrown.retryable }
}

/** Returns the HTTP status of a cover response: 422 for an invalid image, 502 for a failure of another server. */
export const coverStatus = (answer: CoverAnswer) => (answer.ok ? 200 : STATUSES[answer.error.code])

const STATUSES = {
  unsupported_image: 422,
  image_too_large: 422,
  source_unavailable: 502,
  upload_failed: 502,
  internal: 500,
} as const

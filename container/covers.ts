import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { MAX_COVER_BYTES } from '../src/contract/facts.ts'
import type { CoverAnswer, CoverJob } from '../src/contract/job.ts'
import { makeCover } from './cover.ts'
import { download, type Patience } from './download.ts'
import { Fault } from './fault.ts'
import { log } from './log.ts'
import { COVER_PREFIX } from './space.ts'

type CoverFailure = Extract<CoverAnswer, { ok: false }>['error']

/** Answers cover jobs, two at a time, beside the transcodes. */
export function createCovers(workDir: string, patience: Patience) {
  const turns = [Promise.resolve(), Promise.resolve()]
  let count = 0

  return function answer(job: CoverJob, signal: AbortSignal): Promise<CoverAnswer> {
    const lane = count++ % turns.length
    const mine = turns[lane]!.then(() => coverAnswer(job, workDir, patience, signal))
    turns[lane] = mine.then(() => undefined)
    return mine
  }
}

async function coverAnswer(
  job: CoverJob,
  workDir: string,
  patience: Patience,
  signal: AbortSignal,
): Promise<CoverAnswer> {
  const started = Date.now()
  try {
    const result = await fetchAndCut(job, workDir, patience, signal)
    log('cover_done', { seconds: (Date.now() - started) / 1000, colors: result.image_colors.length })
    return { ok: true, result }
  } catch (thrown) {
    const error = toCoverFailure(thrown)
    log('cover_failed', { seconds: (Date.now() - started) / 1000, code: error.code })
    return { ok: false, error }
  }
}

// What can be wrong with a source has more names for audio than for covers.
function toCoverFailure(thrown: unknown): CoverFailure {
  if (!(thrown instanceof Fault)) return { code: 'internal', message: 'The transcoder failed.', retryable: true }
  const code = thrown.code.startsWith('source_') ? 'source_unavailable' : (thrown.code as CoverFailure['code'])
  return { code, message: thrown.message, retryable: thrown.retryable }
}

async function fetchAndCut(job: CoverJob, workDir: string, patience: Patience, signal: AbortSignal) {
  const { size } = job.source
  if (size === 0) throw new Fault('unsupported_image', 'The image is empty.')
  if (size > MAX_COVER_BYTES)
    throw new Fault('image_too_large', `The image is larger than ${MAX_COVER_BYTES / 1e6} MB.`)
  const directory = await mkdtemp(join(workDir, COVER_PREFIX))
  try {
    const path = join(directory, 'src')
    await download(job.source, path, { signal, patience })
    return await makeCover(await readFile(path), job.outputs, signal)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** The HTTP status of a cover's answer: 422 is the file's fault, 502 another server's. */
export function coverStatus(answer: CoverAnswer): number {
  if (answer.ok) return 200
  return {
    unsupported_image: 422,
    image_too_large: 422,
    source_unavailable: 502,
    upload_failed: 502,
    internal: 500,
  }[answer.error.code]
}

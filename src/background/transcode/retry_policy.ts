import type { System } from '../../context.ts'
import type { HandBack, JobEvent } from '../../contract/job.ts'
import type { TrackErrorCode } from '../../contract/track_errors.ts'
import {
  backoff,
  DONE,
  type Job,
  MAX_ATTEMPTS,
  type Outcome,
  type QueuedJob,
  releaseLease,
  sendJob,
} from '../../domain/jobs.ts'
import { requeuedColumns } from '../../domain/transcode/queue.ts'
import { SLOTS } from '../../domain/transcode/slots.ts'
import { failImport } from './import_result.ts'
import { resetProgress, switchToTolerantPass } from './progress.ts'
import { failTranscode } from './result.ts'

/** Decides when a transcode or an import is retried and when it is given up. */

/** Maximum number of consecutive failures that the file does not cause. With the pauses in between, they take about six hours. */
const MAX_TRIES = 360
/** Maximum number of times that the system may kill ffmpeg. It is lower than `MAX_TRIES`, because all work is lost each time. */
const MAX_KILLED = 10
/** Maximum pause between tries, in seconds. */
const MAX_PAUSE = 60

/** Attempts that an import skips in `backoff`: its first pause is 40 s, because another server may need minutes to recover. */
const SKIPPED = 3

/** Gives up a job that has used up its tries or attempts. Otherwise resolves to null. */
export async function giveUpIfExhausted(system: System, job: QueuedJob): Promise<Outcome | null> {
  if (job.tries > MAX_TRIES) return giveUpUnreachable(system, job)
  if (job.attempt <= MAX_ATTEMPTS) return null
  return giveUp(system, job, 'internal', 'The transcoder stopped again and again while it worked on this file')
}

/** Retries a job after a failure that the file did not cause: this does not use up an attempt, but the number of tries is limited. */
export async function retryLater(system: System, job: QueuedJob, delay: number): Promise<Outcome> {
  const tries = job.tries + 1
  if (tries > MAX_TRIES) return giveUpUnreachable(system, job)
  return { end: 'retry', delay: Math.max(delay, Math.min(MAX_PAUSE, backoff(tries))), counts: false, tries }
}

/** Decides what follows after an error that the transcoder reported. */
export async function afterError(
  system: System,
  job: QueuedJob,
  { code, message, retryable }: Extract<JobEvent, { type: 'error' }>['error'],
): Promise<Outcome> {
  if (code === 'killed' && job.tries >= MAX_KILLED) return giveUp(system, job, code, message)
  if (code === 'killed' || code === 'cancelled') return retryLater(system, job, 5)
  const pauses = job.attempt + (job.payload.kind === 'import' ? SKIPPED : 0)
  if (retryable && job.attempt < MAX_ATTEMPTS) return { end: 'retry', delay: backoff(pauses), counts: true }
  return giveUp(system, job, code, message)
}

/**
 * Moves a job into a larger size class, because its source decodes to more audio than the slots of its class are for. This does not use up an attempt.
 * The class always grows, so a job is moved at most as many times as there are classes. Returns null if it is already in the largest one.
 */
export async function moveToLargerClass(
  system: System,
  job: Job<'transcode'>,
  { seconds, slot }: HandBack,
): Promise<Outcome | null> {
  if (job.size_class >= SLOTS - 1) return null
  await resetProgress(system, job)
  const size_class = Math.min(SLOTS - 1, Math.max(job.size_class + 1, SLOTS - 1 - slot))
  return { end: 'retry', delay: 0, counts: false, moved: { size_class, ...requeuedColumns(job, seconds) } }
}

/** Decides what follows after a stream that ended without a result, because the transcoder crashed. */
export async function afterCrash(system: System, job: QueuedJob, hasAdvanced: boolean): Promise<Outcome> {
  // This attempt got further than any earlier one, so the file is probably not the cause.
  if (hasAdvanced) return { end: 'retry', delay: 2, counts: false }
  if (job.attempt >= MAX_ATTEMPTS) {
    return giveUp(system, job, 'internal', 'The transcoder stopped while it worked on this file')
  }
  // This is at least the second crash, so the file may be the cause.
  if (job.attempt >= 2 && isTranscode(job)) await switchToTolerantPass(system, job)
  return { end: 'retry', delay: 2, counts: true }
}

/** Puts a job back into the queue, and schedules a message for the time at which the job is due again. */
export async function requeue(system: System, job: QueuedJob, outcome: Extract<Outcome, { end: 'retry' }>) {
  await releaseLease(system, job, outcome.delay, outcome.counts, outcome.tries, outcome.moved)
  await sendJob(system, job, outcome.delay)
}

function giveUpUnreachable(system: System, job: QueuedJob): Promise<Outcome> {
  const message = 'The transcoder could not be reached for hours; the upload is kept, process the track again later'
  return giveUp(system, job, 'transcoder_unavailable', message)
}

async function giveUp(system: System, job: QueuedJob, code: TrackErrorCode, message: string): Promise<Outcome> {
  await (isTranscode(job) ? failTranscode(system, job, code, message) : failImport(system, job, code, message))
  return DONE
}

const isTranscode = (job: QueuedJob): job is Job<'transcode'> => job.payload.kind === 'transcode'

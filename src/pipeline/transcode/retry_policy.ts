import type { System } from '../../context.ts'
import type { TrackErrorCode } from '../../contract/errors.ts'
import type { JobEvent } from '../../contract/job.ts'
import { backoff, DONE, type Job, MAX_ATTEMPTS, type Outcome, releaseLease, sendJob } from '../jobs.ts'
import { switchToTolerantPass } from './progress.ts'
import { failTranscode } from './result.ts'

/** Decides when a transcode is retried and when it is given up. */

type TranscodeJob = Job<'transcode'>

/** Consecutive failures that are not caused by the file, about six hours' worth. */
const MAX_TRIES = 360
/** The same for an ffmpeg that the system kills: each time all previous work is lost. */
const MAX_KILLED = 10
/** Longest pause between tries, in seconds. */
const MAX_PAUSE = 60

/** Gives up a job that has used up its tries or attempts; otherwise resolves to null. */
export async function giveUpIfExhausted(system: System, job: TranscodeJob): Promise<Outcome | null> {
  if (job.tries > MAX_TRIES) return giveUpUnreachable(system, job)
  if (job.attempt <= MAX_ATTEMPTS) return null
  return giveUp(system, job, 'internal', 'The transcoder stopped again and again while it worked on this file')
}

/** The file is not the cause, so this costs no attempt; still, the number of tries is limited. */
export async function retryLater(system: System, job: TranscodeJob, delay: number): Promise<Outcome> {
  const tries = job.tries + 1
  if (tries > MAX_TRIES) return giveUpUnreachable(system, job)
  return { end: 'retry', delay: Math.max(delay, Math.min(MAX_PAUSE, backoff(tries))), counts: false, tries }
}

/** After an error that the transcoder reports. */
export async function afterError(
  system: System,
  job: TranscodeJob,
  { code, message, retryable }: Extract<JobEvent, { type: 'error' }>['error'],
): Promise<Outcome> {
  if (code === 'killed' && job.tries >= MAX_KILLED) return giveUp(system, job, code, message)
  if (code === 'killed' || code === 'cancelled') return retryLater(system, job, 5)
  if (retryable && job.attempt < MAX_ATTEMPTS) return { end: 'retry', delay: backoff(job.attempt), counts: true }
  return giveUp(system, job, code, message)
}

/** After a stream that ended without an answer, because the transcoder died. */
export async function afterCrash(system: System, job: TranscodeJob, hasAdvanced: boolean): Promise<Outcome> {
  // It got further than any earlier attempt, so the file is probably not the cause.
  if (hasAdvanced) return { end: 'retry', delay: 2, counts: false }
  if (job.attempt >= MAX_ATTEMPTS) {
    return giveUp(system, job, 'internal', 'The transcoder stopped while it worked on this file')
  }
  // A second crash: the file may be the cause.
  if (job.attempt >= 2) await switchToTolerantPass(system, job)
  return { end: 'retry', delay: 2, counts: true }
}

/** Puts a job back into the queue, and wakes the queue when the job is due again. */
export async function requeue(system: System, job: TranscodeJob, outcome: Extract<Outcome, { end: 'retry' }>) {
  await releaseLease(system, job, outcome.delay, outcome.counts, outcome.tries)
  await sendJob(system, job, outcome.delay)
}

function giveUpUnreachable(system: System, job: TranscodeJob): Promise<Outcome> {
  const message = 'The transcoder could not be reached for hours; the upload is kept, process the track again later'
  return giveUp(system, job, 'transcoder_unavailable', message)
}

async function giveUp(system: System, job: TranscodeJob, code: TrackErrorCode, message: string): Promise<Outcome> {
  await failTranscode(system, job, code, message)
  return DONE
}

import { isTransientError } from '../../adapters/db/retry.ts'
import { wakeIfSubscribed } from '../../adapters/queue/wake_webhooks.ts'
import type { System } from '../../context.ts'
import type { JobError } from '../../contract/job.ts'
import { describeError, isFull } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import {
  backoff,
  DONE,
  endJob,
  type Job,
  LEASE,
  type LeasedJob,
  loadLeased,
  type QueuedJob,
} from '../../domain/jobs.ts'
import { abortOutputs, joinOutputs, PARTS_LOST } from '../../domain/transcode/output_parts.ts'
import { jobRequest, loadTask, type TranscodeTask } from '../../domain/transcode/request.ts'
import { attach, type FollowOutcome, type JobTranscoder } from './attach.ts'
import { writeEarly } from './early.ts'
import { followImport } from './import.ts'
import { jobEvents } from './job_stream.ts'
import { renewLease, switchToTolerantPass } from './progress.ts'
import { finishTranscode } from './result.ts'
import { afterCrash, afterError, giveUpIfExhausted, moveToLargerClass, requeue, retryLater } from './retry_policy.ts'

/** Milliseconds between two renewals of the lease. */
const RENEW_EVERY = LEASE / 3
/**
 * Minimum milliseconds between two writes of the progress, which also must have advanced by `PROGRESS_STEP`. The progress is written in the same
 * statement as the lease, because each write costs two rows.
 */
const PROGRESS_EVERY = 10_000
const PROGRESS_STEP = 0.1
/**
 * Milliseconds after the start of a run in which no progress is written: in this time the early file is recorded, which writes the progress as well, or
 * a short job ends.
 */
const FIRST_PROGRESS_AFTER = 2000

/** The state of a job after a run: its lease is still held, it has ended, or it was requeued because it could not be started. */
export type RunOutcome = 'held' | 'ended' | 'not_started'

/** Starts a leased transcode or import or reconnects to it, follows it until `signal` aborts, and writes the outcome. */
export async function runTranscode(
  system: System,
  leasedJob: LeasedJob,
  transcoder: JobTranscoder,
  signal: AbortSignal,
): Promise<RunOutcome> {
  let result: RunOutcome = 'ended'
  let job: QueuedJob | undefined
  try {
    job = (await loadLeased(system, leasedJob)) as QueuedJob | undefined
    if (!job) return 'ended'
    const outcome = await followJob(system, job, transcoder, signal)
    if (outcome.end === 'held') return 'held'
    if (outcome.end === 'retry') await requeue(system, job, outcome)
    if (outcome.end === 'retry' && outcome.tries) result = 'not_started'
  } catch (error) {
    const isTransient = isTransientError(error)
    log('error', 'transcode_failed', { job_id: leasedJob.id, passing: isTransient, error: describeError(error) })
    // The transcoder continues with the job and keeps the result for the next run.
    if (isTransient || !job) return 'held'
    // If this statement also fails, the lease expires.
    const outcome = { end: 'retry' as const, delay: backoff(job.attempt), counts: !isFull(error) }
    await requeue(system, job, outcome).catch(() => undefined)
  }
  system.invalidate(job.organization_id)
  await wakeIfSubscribed(system, job.organization_id)
  return result
}

const followJob = (system: System, job: QueuedJob, transcoder: JobTranscoder, signal: AbortSignal) =>
  job.payload.kind === 'import'
    ? followImport(system, job as Job<'import'>, transcoder, signal)
    : startOrAttach(system, job as Job<'transcode'>, transcoder, signal)

async function startOrAttach(
  system: System,
  job: Job<'transcode'>,
  transcoder: JobTranscoder,
  signal: AbortSignal,
): Promise<FollowOutcome> {
  const task = await loadTask(system, job)
  if (!task) {
    // The transcoder may still work on an earlier attempt.
    await transcoder.cancel()
    await abortOutputs(system.env, job.payload.uploads)
    await endJob(system, job)
    return DONE
  }
  const exhausted = await giveUpIfExhausted(system, job)
  if (exhausted) {
    await abortOutputs(system.env, task.job.payload.uploads)
    return exhausted
  }
  const attached = await attach(system, job, transcoder, 'jobs', () => jobRequest(system.env, task), signal)
  return 'end' in attached ? attached : followEvents(system, task, attached.body, transcoder, signal)
}

async function followEvents(
  system: System,
  task: TranscodeTask,
  body: ReadableStream<Uint8Array>,
  transcoder: JobTranscoder,
  signal: AbortSignal,
): Promise<FollowOutcome> {
  const { job } = task
  const { uploads } = job.payload
  let renewedAt = job.lease_until - LEASE
  let writtenProgress: { at: number; fraction: number } | null = null
  let reachedFraction = 0
  let hasEarly = false
  const startedAt = Date.now()
  const endWith = async (error: JobError) => {
    const outcome = await afterError(system, job, error)
    if (outcome.end === 'done') await abortOutputs(system.env, uploads)
    return outcome
  }
  for await (const event of jobEvents(job, body, signal)) {
    if (event.type === 'silence') return retryLater(system, job, 5)
    if (event.type === 'result') {
      if (!(await joinOutputs(system.env, uploads, event.result.variants))) {
        // Without this, the transcoder would repeat its result.
        await transcoder.cancel()
        return endWith(PARTS_LOST)
      }
      await finishTranscode(system, task, event.result, hasEarly)
      await abortOutputs(system.env, uploads)
      return DONE
    }
    if (event.type === 'error') {
      const moved = event.hand_back && (await moveToLargerClass(system, job, event.hand_back))
      return moved ?? endWith(event.error)
    }
    if (event.type === 'fallback') {
      await switchToTolerantPass(system, job)
      writtenProgress = null
      reachedFraction = 0
      continue
    }
    if (event.type === 'early') {
      if (!(await joinOutputs(system.env, uploads, [event.file]))) continue
      hasEarly = true
      if (await writeEarly(system, task, event.file, reachedFraction))
        writtenProgress = { at: Date.now(), fraction: reachedFraction }
      continue
    }
    const now = Date.now()
    const fraction = event.type === 'progress' ? event.fraction : null
    reachedFraction = Math.max(reachedFraction, fraction ?? 0)
    const hasAdvanced =
      fraction !== null &&
      (writtenProgress
        ? now - writtenProgress.at >= PROGRESS_EVERY && fraction - writtenProgress.fraction >= PROGRESS_STEP
        : now - startedAt >= FIRST_PROGRESS_AFTER)
    if (hasAdvanced || now - renewedAt >= RENEW_EVERY) {
      const isRenewed = await renewLease(system, job, hasAdvanced ? fraction : null)
      if (isRenewed === false) return DONE
      if (isRenewed) renewedAt = now
      if (isRenewed && hasAdvanced) writtenProgress = { at: now, fraction }
    }
  }
  if (signal.aborted) return { end: 'held' }
  if (reachedFraction > (writtenProgress?.fraction ?? 0)) await renewLease(system, job, reachedFraction)
  return afterCrash(system, job, reachedFraction >= task.progress + PROGRESS_STEP)
}

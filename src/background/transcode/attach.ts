import { toTranscoder } from '../../adapters/transcoder/client.ts'
import type { System } from '../../context.ts'
import { describeError } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import type { Outcome, QueuedJob } from '../../domain/jobs.ts'
import { retryLater } from './retry_policy.ts'

/** The transcoder of a job's slot. */
export interface JobTranscoder {
  /** Sends a request. Throws when the transcoder cannot be reached. */
  call: (path: string, init: RequestInit) => Promise<Response>
  /** Cancels the job's processes. Returns false when the processes may still be running. */
  cancel: () => Promise<boolean>
}

/** The result of following a job. `held` means that the lease is kept and that a later run reconnects. */
export type FollowOutcome = Outcome | { end: 'held' }

/** Starts a job or reconnects to it. Returns the stream of its events, or what follows if there is none. */
export async function attach(
  system: System,
  job: QueuedJob,
  transcoder: JobTranscoder,
  kind: 'jobs' | 'imports',
  toRequest: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<{ body: ReadableStream<Uint8Array> } | FollowOutcome> {
  let response: Response
  try {
    const request = await toRequest()
    response = await transcoder.call(`/${kind}/${job.id}`, toTranscoder(system.env, 'POST', request, signal))
  } catch (error) {
    if (signal.aborted) return { end: 'held' }
    log('error', 'transcoder_unreachable', { job_id: job.id, error: describeError(error) })
    return retryLater(system, job, 5)
  }
  if (response.ok && response.body) return { body: response.body }
  const refusal = { status: response.status, body: (await response.text()).slice(0, 1000) }
  log('error', 'transcoder_refused', { job_id: job.id, ...refusal })
  return retryLater(system, job, Number(response.headers.get('retry-after')) || 5)
}

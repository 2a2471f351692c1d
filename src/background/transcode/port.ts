import { callTranscoder, cancelJob } from '../../adapters/transcoder/client.ts'
import type { System } from '../../context.ts'
import type { LeasedJob } from '../../domain/jobs.ts'
import { dispatch } from '../../domain/transcode/dispatch.ts'
import type { JobTranscoder } from './attach.ts'
import { type RunOutcome, runTranscode } from './follow.ts'

/** The functions that a `TranscodeFollower` needs from the rest of the system. */
export interface TranscoderPort {
  /** Follows a leased job until `signal` aborts. Never throws. */
  run: (job: LeasedJob, transcoder: JobTranscoder, signal: AbortSignal) => Promise<RunOutcome>
  /** Assigns waiting jobs, because a slot has become free. */
  dispatch: () => Promise<void>
  /**
   * Sends a request to the transcoder in this container, or at `TRANSCODER_URL` if there is no container. Throws when the transcoder cannot be
   * reached.
   */
  call: (container: Container | undefined, path: string, init: RequestInit) => Promise<Response>
  /** Cancels a job's processes in that transcoder. Returns false when the processes may still be running. */
  cancel: (container: Container | undefined, job_id: string) => Promise<boolean>
}
export const createTranscoderPort = (system: System): TranscoderPort => ({
  run: (job, transcoder, signal) => runTranscode(system, job, transcoder, signal),
  dispatch: () => dispatch(system),
  call: (container, path, init) => callTranscoder(system.env, container, path, init),
  cancel: (container, job_id) => cancelJob(system.env, container, job_id),
})

import { callTranscoder, cancelJob } from '../../adapters/transcoder/client.ts'
import type { System } from '../../context.ts'
import type { LeasedJob } from '../jobs.ts'
import { dispatch } from './dispatch.ts'
import { type JobTranscoder, type RunOutcome, runTranscode } from './follow.ts'

/** Functions that a `TranscodeFollower` needs. */
export interface TranscoderPort {
  /** Follows a leased job until `signal`. Never throws. */
  run: (job: LeasedJob, transcoder: JobTranscoder, signal: AbortSignal) => Promise<RunOutcome>
  /** Dispatches the queue, because a slot is free. */
  dispatch: () => Promise<void>
  /** Sends a request to the transcoder behind this container, or at `TRANSCODER_URL`; throws when it cannot be reached. */
  call: (container: Container | undefined, path: string, init: RequestInit) => Promise<Response>
  /** Cancels a job's processes there; returns false when it is not certain that they ended. */
  cancel: (container: Container | undefined, job_id: string) => Promise<boolean>
}
export const createTranscoderPort = (system: System): TranscoderPort => ({
  run: (job, transcoder, signal) => runTranscode(system, job, transcoder, signal),
  dispatch: () => dispatch(system),
  call: (container, path, init) => callTranscoder(system.env, container, path, init),
  cancel: (container, job_id) => cancelJob(system.env, container, job_id),
})

import type { CoverAnswer } from '../src/contract/job.ts'
import type { JobErrorCode } from '../src/contract/track_errors.ts'

type CoverErrorCode = Extract<CoverAnswer, { ok: false }>['error']['code']

/** A failure of a job, with an error code from the contract. Any other error is reported to clients as `internal`. */
export class JobError extends Error {
  readonly code: JobErrorCode | CoverErrorCode
  readonly retryable: boolean

  constructor(code: JobErrorCode | CoverErrorCode, message: string, retryable = false) {
    super(message)
    this.code = code
    this.retryable = retryable
  }
}

/** Stops a job whose source decodes to more audio than its slot is for (`HandBack`). */
export class SlotTooSmall extends JobError {
  readonly seconds: number

  constructor(seconds: number) {
    super('cancelled', 'The source decodes to more audio than the slot is for.', true)
    this.seconds = seconds
  }
}

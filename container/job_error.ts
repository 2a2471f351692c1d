import type { JobErrorCode } from '../src/contract/errors.ts'
import type { CoverAnswer } from '../src/contract/job.ts'

type CoverErrorCode = Extract<CoverAnswer, { ok: false }>['error']['code']

/** A job failure with a code of the contract. Anything else that is thrown becomes `internal`. */
export class JobError extends Error {
  readonly code: JobErrorCode | CoverErrorCode
  readonly retryable: boolean

  constructor(code: JobErrorCode | CoverErrorCode, message: string, retryable = false) {
    super(message)
    this.code = code
    this.retryable = retryable
  }
}

import type { JobErrorCode } from '../src/contract/errors.ts'
import type { CoverAnswer } from '../src/contract/job.ts'

type CoverErrorCode = Extract<CoverAnswer, { ok: false }>['error']['code']

/** A failure with a code of the contract; anything else that is thrown is `internal`. */
export class Fault<Code extends string = JobErrorCode | CoverErrorCode> extends Error {
  readonly code: Code
  readonly retryable: boolean

  constructor(code: Code, message: string, retryable = false) {
    super(message)
    this.code = code
    this.retryable = retryable
  }
}

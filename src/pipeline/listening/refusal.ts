/** Why a report was refused. */
export interface Refusal {
  /** The word under which the statistics count it. */
  reason: 'ranges' | 'time' | 'track' | 'late' | 'visit' | 'rate' | 'full'
  /** The field of the report, such as `listens.3.ranges`. */
  path: string
  /** The fault of the field, in words that follow its path. */
  message: string
}

export const refuse = (reason: Refusal['reason'], path: string, message: string): Refusal => ({ reason, path, message })

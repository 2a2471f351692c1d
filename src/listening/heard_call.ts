import type { HeardReport } from '../contract/heard.ts'
import type { Difference } from './difference.ts'

/** A report as the Worker sends it to an object, and the outcome. */

/** The parts of a session that its reports are counted with. */
export interface SessionFacts {
  id: string
  created_at: number
  via: Difference['via']
}

/** The sender of a report, as the service sees it. */
export interface Caller {
  country: string | null
  /** A keyed hash of the address; empty if the service does not know addresses. */
  client: string
}

/** Why a report was refused. */
export interface Refusal {
  /** The word under which the statistics count it. */
  reason: 'ranges' | 'time' | 'track' | 'late' | 'visit' | 'rate'
  /** The field of the report, such as `listens.3.ranges`. */
  path: string
  /** The fault of the field, in words that follow its path. */
  message: string
}

export const refuse = (reason: Refusal['reason'], path: string, message: string): Refusal => ({ reason, path, message })

/** A report with the facts of its token. */
export interface HeardCall extends Caller {
  organization_id: string
  shard: number
  report: HeardReport
  session: SessionFacts
  shards: number
  /** The listener whose progress is kept; null if none is. */
  listener?: string | null
}
/** `gone`: the organization was deleted. A refusal is counted under its reason. */
export type HeardOutcome = 'ok' | 'gone' | Refusal

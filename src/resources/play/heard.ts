import type { Handlers } from '../../context.ts'
import type { heardOperations } from '../../contract/heard.ts'
import { ApiError, describeError, invalid, notFound } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { listeningObject } from '../../pipeline/listening/call_object.ts'
import type { Refusal } from '../../pipeline/listening/difference.ts'
import { shardOf } from '../../pipeline/listening/shards.ts'
import { verifyHeardToken } from './heard_grant.ts'

/** The field for which a report is refused, and why. Such a report must not be sent again. */
const REASONS: Record<Exclude<Refusal, 'rate' | 'full'>, [path: string, reason: string]> = {
  ranges: ['listens', 'have impossible ranges, or less than was reported before'],
  time: ['age', 'is too small for the seconds of the visit, went back, or exceeds the age of the session'],
  track: ['listens', 'have a track that does not exist or that the session does not play'],
  visit: ['visit', 'is too long or belongs to another session, or its report leaves out unfinished listens'],
  late: ['visit', 'is not known any more'],
}

export const heardHandlers: Handlers<typeof heardOperations> = {
  async reportHeard({ params: { token }, body: report }, { env, now, country = null }) {
    const { organization_id, session_id, created_at, scope, resource_id, share_id, listener, shards } =
      await verifyHeardToken(env, token, now)
    const shard = shardOf(report.visit, shards)
    const via = { scope, id: resource_id, share: share_id }
    const session = { id: session_id, created_at, via }
    const call = { organization_id, shard, report, session, listener, shards, country }
    const outcome = await listeningObject(
      env,
      organization_id,
      shard,
    )('heard', call).catch((error: unknown) => {
      log('error', 'report_not_stored', { organization_id, shard, error: describeError(error) })
      throw new ApiError('unavailable', 'The report was not stored. Send it again', undefined, { 'retry-after': '1' })
    })
    if (outcome === 'gone') throw notFound('heard_token')
    const later = (code: 'rate_limited' | 'unavailable', reason: string) =>
      new ApiError(code, `${reason}; send the report again in a minute`, undefined, { 'retry-after': '60' })
    if (outcome === 'rate') throw later('rate_limited', 'The session started too many visits in this minute')
    if (outcome === 'full') throw later('unavailable', 'Too many or too large visits are open')
    if (outcome !== 'ok') {
      const [path, reason] = REASONS[outcome]
      throw invalid(path, `${reason}. The report was not counted; begin a new visit`)
    }
    return {}
  },
}

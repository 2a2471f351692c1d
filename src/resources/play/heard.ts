import type { Handlers } from '../../context.ts'
import type { heardOperations } from '../../contract/heard.ts'
import { ApiError, describeError, notFound } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { listeningObject } from '../../pipeline/listening/call_object.ts'
import { shardOf } from '../../pipeline/listening/shards.ts'
import { verifyHeardToken } from './heard_grant.ts'

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
    // These refusals are temporary. After a 204, the sender would leave out its finished listens.
    const later = (code: 'rate_limited' | 'unavailable', reason: string) =>
      new ApiError(code, `${reason}; send the report again in a minute`, undefined, { 'retry-after': '60' })
    if (outcome === 'rate') throw later('rate_limited', 'The session started too many visits in this minute')
    if (outcome === 'full') throw later('unavailable', 'Too many visits are open')
    return {}
  },
}

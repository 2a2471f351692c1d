import type { HeardReport } from '../../contract/heard.ts'
import { ApiError, describeError, notFound } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { listeningObject } from '../../listening/call_object.ts'
import type { Refusal } from '../../listening/heard_call.ts'
import { shardOf } from '../../listening/shards.ts'
import type { HeardGrant } from './heard_grant.ts'
import { clientHash } from './heard_token.ts'

/** Returns the error response to a refused report. With 429, the report may be sent again; with 400, it must not be. */
function refused({ reason, path, message }: Refusal): ApiError {
  const text = `${path}: ${message}.`
  if (reason === 'rate')
    return new ApiError(
      'rate_limited',
      `${text} Send the report again in a minute`,
      { reason },
      { 'retry-after': '60' },
    )
  const details = { errors: [{ path, message }], reason }
  return new ApiError('invalid_request', `${text} The report was not counted; begin a new visit`, details)
}

/** The sender of a listening report, as the service sees it. */
export interface Reporter {
  grant: HeardGrant
  /** The address; empty if it is not known. */
  address: string
  /** Two letters (ISO 3166-1); null if it is unknown. */
  country: string | null
  /** The host name of the page of another site that sent the report; null if there is none. */
  site: string | null
}

/** Counts a report. Throws an error response if it is refused or not stored. */
export async function countReport(
  env: Env,
  { grant, address, country, site }: Reporter,
  body: HeardReport,
): Promise<void> {
  const { organization_id, session_id, created_at, scope, resource_id, share_id, listener, shards } = grant
  const shard = shardOf(session_id, shards)
  const via = { scope, id: resource_id, share: share_id }
  const session = { id: session_id, created_at, via }
  const report = site === null ? body : { ...body, source: site }
  const client = await clientHash(env, organization_id, address)
  const call = { organization_id, shard, report, session, listener, shards, country, client }
  const outcome = await listeningObject(
    env,
    organization_id,
    shard,
  )('heard', call).catch((error: unknown) => {
    log('error', 'report_not_stored', { organization_id, shard, error: describeError(error) })
    throw new ApiError('unavailable', 'The report was not stored. Send it again', undefined, { 'retry-after': '1' })
  })
  if (outcome === 'gone') throw notFound('heard_token')
  if (outcome !== 'ok') throw refused(outcome)
}

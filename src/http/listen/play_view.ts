import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import { isIssuedId } from '../../adapters/crypto/id.ts'
import { LOGGED_SHARE } from '../../contract/facts.ts'
import { playTrack } from '../../resources/play/playback.ts'
import { playSession } from '../../resources/play/session_view.ts'
import { errorResponse } from '../answer.ts'
import { logRequest } from '../log_request.ts'
import { answerListener } from './answer_listener.ts'

/**
 * Handles `playTrack`, the most frequent operation, and `playSession`, the first one of every player, without Hono, zod and Drizzle. A new isolate can
 * thus respond before it has loaded them (docs/decisions/0029).
 */

const ROUTE = '/v1/play/:play_session_id'
const PATH = /^\/v1\/play\/([\w-]+)(?:\/([\w-]+))?$/

/** Responds to a request for a session or a play view. Returns null for any other request, and for ids that were never issued. */
export function answerPlayView(cache: IsolateCache, raw: Request, env: Env): Promise<Response> | null {
  if (raw.method !== 'GET') return null
  const [, play_session_id = '', play_track_id] = PATH.exec(new URL(raw.url).pathname.toLowerCase()) ?? []
  const isView = play_track_id !== undefined
  if (!isIssuedId(play_session_id) || (isView && !isIssuedId(play_track_id))) return null
  const api_request_id = crypto.randomUUID()
  const started_at = Date.now()
  let organization_id: string | undefined
  const request = {
    env,
    req: { raw, url: raw.url },
    set: (_: 'organization_id', id: string) => void (organization_id = id),
  }
  const answer = answerListener(
    request,
    cache,
    { secret: play_session_id, reuse: true },
    (context) =>
      isView
        ? playTrack({ params: { play_session_id, play_track_id } }, context)
        : playSession({ params: { play_session_id } }, context),
    async (found) => {
      const answer = { ok: true, api_request_id, ...found }
      if (env.CHECK_ANSWERS === 'true') await check(answer, isView ? 'playTrack' : 'playSession')
      return answer
    },
  ).catch((error: unknown) => errorResponse(error, env, raw, api_request_id))
  return answer.then((response) => {
    const { status } = response
    if (isView && status < 400 && Math.random() > LOGGED_SHARE) return response
    const route = isView ? `${ROUTE}/:play_track_id` : ROUTE
    logRequest(env, { api_request_id, method: raw.method, route, status, started_at, organization_id })
    return response
  })
}

/** Other responses are copied with their schemas. Those of this file are not, so tests check that they equal such a copy. */
async function check(answer: { api_request_id: string }, operation: 'playTrack' | 'playSession'): Promise<void> {
  const { encoder } = await import('../encode.ts')
  const { playOperations } = await import('../../contract/play.ts')
  const copy = encoder(playOperations[operation].response)(answer, answer.api_request_id, true)
  if (JSON.stringify(copy) !== JSON.stringify(answer)) throw new Error('an answer is not what its schema says')
}

import type { IsolateCache } from '../adapters/cache/isolate_cache.ts'
import { isIssuedId } from '../adapters/crypto/id.ts'
import type { Client } from '../adapters/db/query.ts'
import type { Context } from '../context.ts'
import { missingSettings } from '../core/required_settings.ts'
import { playTrack } from '../resources/play/playback.ts'
import { isSigned } from '../resources/play/session_reader.ts'
import { playSession } from '../resources/play/session_view.ts'
import { errorResponse } from './answer.ts'
import { countedPart } from './auth/limit_rate.ts'
import { answerListener, type ListenerRequest } from './listen/answer_listener.ts'
import { viewsQuery } from './listen/views_query.ts'
import { logRequest } from './log_request.ts'
import { answerEmbed } from './pages/embed.ts'
import { answerShare } from './pages/share_page.ts'

/**
 * Answers the first requests of listeners without Hono, zod and Drizzle: play sessions, play views, embeds, shares, links to files, generated covers
 * and listening reports. A new isolate can thus respond before it has loaded them (docs/decisions/0029). The app has these routes too, for `HEAD`, for forms, for ids that were
 * never issued, and for escaped paths.
 */

type Respond = (request: ListenerRequest) => Promise<Response>
type Route = [name: string, respond: Respond]
/** Returns the route of a path and the function that answers it; null if the app answers it. */
type FindRoute = (cache: IsolateCache, path: string, context: ExecutionContext) => Route | null

/** Finds the route of a listening report. */
const reportRoute: FindRoute = (cache, path) => {
  const [, token] = /^\/v1\/heard\/([\w-]+)$/.exec(path) ?? []
  return token === undefined
    ? null
    : ['/v1/heard/:token', async (request) => (await import('./api/heard.ts')).answerHeard(request, cache, token)]
}

/** Finds the route of a link to a file. */
const fileRoute: FindRoute = (cache, path, context) =>
  /^\/s\/.+\.(mp3|m4a|opus|flac)$/i.test(path)
    ? [
        '/s/:slug/:file',
        async (request) => (await import('./pages/share_file.ts')).answerFile(request, cache, path, context),
      ]
    : null

/** Finds the route of a `GET`. */
const routeOf: FindRoute = (cache, path, context) => {
  if (path.startsWith('/cover/'))
    return [
      '/cover/:design/:file',
      async ({ env, req }) => (await import('./pages/cover.ts')).answerCover(env, req.raw, path),
    ]
  const [, prefix, text = '', id] = /^\/(v1\/play|embed)\/([\w.-]+)(?:\/([\w-]+))?$/.exec(path) ?? []
  const track = id?.toLowerCase()
  const isToken = isSigned(text)
  const session = isToken ? text : text.toLowerCase()
  if (isToken || isIssuedId(session)) {
    const answer =
      (operation: 'playTrack' | 'playSession', read: (context: Context<Client>) => Promise<object>): Respond =>
      (request) =>
        answerListener(request, cache, { secret: countedPart(session), reuse: true }, read, async (found) => {
          const answer = { ok: true, api_request_id: request.id, ...found }
          if (request.env.CHECK_ANSWERS === 'true')
            (await import('./listen/check_answer.ts')).checkAnswer(answer, operation)
          return answer
        })
    const params = { play_session_id: session }
    if (prefix === 'embed')
      return track === undefined ? ['/embed/:play_session_id', (request) => answerEmbed(request, cache, session)] : null
    if (track === undefined)
      return [
        '/v1/play/:play_session_id',
        async (request) => {
          const query = viewsQuery(request.req.url)
          return answer('playSession', (context) => playSession({ params, query }, context))(request)
        },
      ]
    const view = { params: { ...params, play_track_id: track } }
    return isIssuedId(track)
      ? ['/v1/play/:play_session_id/:play_track_id', answer('playTrack', (context) => playTrack(view, context))]
      : null
  }
  const [, frame, slug] = /^(\/embed)?\/s\/([\w-]+)$/.exec(path) ?? []
  return slug === undefined
    ? fileRoute(cache, path, context)
    : [`${frame ?? ''}/s/:slug`, (request) => answerShare(request, cache, slug, frame !== undefined)]
}

const FIND: Record<string, FindRoute> = { GET: routeOf, HEAD: fileRoute, POST: reportRoute }

/** Answers a first request of a listener. Returns null for any other request. */
export function answerFirst(
  cache: IsolateCache,
  raw: Request,
  env: Env,
  context: ExecutionContext,
): Promise<Response> | null {
  const { method } = raw
  const path = new URL(raw.url).pathname
  const [route, respond] = FIND[method]?.(cache, path, context) ?? []
  if (!route || !respond) return null
  // The app responds that the Worker is not configured. Play views need few settings, so they are tried.
  if (!route.startsWith('/v1/play/') && missingSettings(env).length > 0) return null
  const api_request_id = crypto.randomUUID()
  const started_at = Date.now()
  let organization_id: string | undefined
  const request = {
    id: api_request_id,
    env,
    req: { raw, url: raw.url },
    set: (_: 'organization_id', id: string) => void (organization_id = id),
  }
  const answer = respond(request).catch((error: unknown) => errorResponse(error, env, raw, api_request_id))
  return answer.then((response) => {
    logRequest(env, { api_request_id, method, route, status: response.status, started_at, organization_id })
    return response
  })
}

import { LOGGED_SHARE } from '../contract/facts.ts'
import { log } from '../core/log.ts'

interface RequestSummary {
  api_request_id: string
  method: string
  /** The pattern of the path. The path itself is not logged, because the paths of play sessions and uploads contain secrets. */
  route: string
  status: number
  /** The time when the request arrived, in milliseconds since 1970. */
  started_at: number
  /** The organization of the request, if it is known. */
  organization_id: string | undefined
}

/** The routes of play sessions, of their reports and of links to files, which get by far the most requests. */
const IS_PLAY = /^\/v1\/(play[_/]|heard)|^\/s\/:slug\/:file$/

/** Logs one line per request (docs/decisions/0043), except for most successful requests of these routes (docs/decisions/0082). */
export function logRequest({ REQUEST_LOG }: Env, { started_at, ...line }: RequestSummary): void {
  if (REQUEST_LOG !== 'true') return
  if (line.status < 400 && IS_PLAY.test(line.route) && Math.random() > LOGGED_SHARE) return
  log('log', 'request', { ...line, milliseconds: Date.now() - started_at })
}

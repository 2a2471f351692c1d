import { MAX_VIEWS } from '../../contract/facts.ts'
import type { ViewsQuery } from '../../contract/play.ts'
import { invalid } from '../../core/errors.ts'

const VIEWS = new RegExp(`^[1-${MAX_VIEWS}]$`)
const isNumber = (text: string): text is NonNullable<ViewsQuery['views']> => VIEWS.test(text)
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/**
 * Reads the query of `GET /v1/play/{play_session_id}`, such as `?views=5&from={track_id}`, without zod (docs/decisions/0029). A query
 * without `views` is ignored, as an empty one. Throws a 400 if a parameter is invalid, repeated or unknown.
 */
export function viewsQuery(url: string): ViewsQuery {
  const query = new URL(url).searchParams
  const views = query.get('views')
  if (views === null) return {}
  for (const name of query.keys()) {
    if (name !== 'views' && name !== 'from') throw invalid(name, 'is not a known field', 'unknown_field')
    if (query.getAll(name).length > 1) throw invalid(name, 'must be given only once')
  }
  if (!isNumber(views)) throw invalid('views', `must be a whole number, between 1 and ${MAX_VIEWS}`)
  const from = query.get('from')?.toLowerCase()
  if (from !== undefined && !UUID.test(from)) throw invalid('from', 'must be the id of a track')
  return { views, from }
}

/** The form of a URL whose response is cached: without a query, or with the one that players send for the views of a session. */
const CACHED_URL = new RegExp(`^[^?]+$|/v1/play/[^/?]+\\?views=[1-${MAX_VIEWS}](&from=[\\da-f-]{36})?$`)
export const isCachedUrl = (url: string) => CACHED_URL.test(url)

import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import type { Client } from '../../adapters/db/query.ts'
import type { Context } from '../../context.ts'
import { LISTENER } from '../../core/principal.ts'
import { JSON_HEADERS } from '../answer.ts'
import { limitReading } from '../auth/limit_rate.ts'
import { contextOf } from '../context.ts'
import { readNearest } from './read_nearest.ts'
import { storeResponse } from './response_cache.ts'

/** The part of Hono's context that requests of listeners use. */
export interface ListenerRequest {
  /** The id of the request (`api_request_id`). */
  id: string
  env: Env
  req: { raw: Request; url: string }
  /** Stores the organization for the request log. */
  set: (name: 'organization_id', value: string) => void
}

/** Returns as how many requests a response counts: as one for each of its play views. */
const timesOf = (answer: { views?: unknown[] }) => answer.views?.length || 1

/** Responds to a caller without a key. The response is cached if that is allowed. */
export async function answerListener(
  request: Omit<ListenerRequest, 'id'>,
  cache: IsolateCache,
  { secret, reuse }: { secret: string; reuse: boolean },
  read: (context: Context<Client>) => Promise<object>,
  encode: (answer: object) => object | Promise<object>,
): Promise<Response> {
  const { env, req } = request
  const changesBefore = cache.changes
  let cacheable: { organization_id: string; until: number; origins: string[] | null } | undefined
  const allowCaching: Context['allowCaching'] = (organization_id, until, origins = null) =>
    (cacheable = { organization_id, until, origins })
  const answer = await limitReading(
    request,
    cache,
    secret,
    () => readNearest(env, (client) => read(contextOf(request, LISTENER, cache, client, allowCaching))),
    timesOf,
  )
  if (cacheable) request.set('organization_id', cacheable.organization_id)
  const text = JSON.stringify(await encode(answer))
  if (reuse && cacheable && changesBefore === cache.changes)
    storeResponse(cache, req.raw, env, text, { ...cacheable, secret, times: timesOf(answer) })
  return new Response(text, { headers: JSON_HEADERS })
}

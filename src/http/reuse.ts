import type { Memory } from '../adapters/memory.ts'
import { JSON_HEADERS } from './answer.ts'
import { clientOf, mayRead } from './limit_rate.ts'

/**
 * Answers that are given again, before anything else looks at the request (docs/decisions/0028). An answer is kept under all that it
 * depends on; one to a URL with a query never is.
 */

const BEGINNING = '{"ok":true,"api_request_id":"'
const ID_LENGTH = 36

const keyOf = ({ url }: Request, env: Env) => `${env.PUBLIC_BASE_URL} ${url}`

/** Keeps an answer's text, for an operation with `reuse`. */
export function keep(
  memory: Memory,
  request: Request,
  env: Env,
  text: string,
  answer: { organization_id: string; secret: string; until: number },
): void {
  if (env.REUSE_ANSWERS !== 'true' || request.url.includes('?') || !text.startsWith(BEGINNING)) return
  const rest = text.slice(BEGINNING.length + ID_LENGTH)
  const { organization_id, secret, until } = answer
  const bytes = 2 * (rest.length + request.url.length)
  memory.answers.set(keyOf(request, env), { rest, secret }, { organization_id, bytes, until })
}

/** The answer that is kept for a request, or what others make of it. */
export function answerAgain(
  memory: Memory,
  request: Request,
  env: Env,
  others: () => Response | Promise<Response>,
): Response | Promise<Response> {
  const { method } = request
  if (env.REUSE_ANSWERS !== 'true' || (method !== 'GET' && method !== 'HEAD')) return others()
  const kept = memory.answers.get(keyOf(request, env), Date.now())
  if (!kept) return others()
  // Who asks too often is told so by the others.
  return mayRead(env, kept.secret, clientOf(request.headers)).then((may) => {
    if (!may) return others()
    const text = method === 'HEAD' ? null : BEGINNING + crypto.randomUUID() + kept.rest
    return new Response(text, { headers: JSON_HEADERS })
  }, others)
}

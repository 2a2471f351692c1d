import { MAX_HEARD_BYTES, MAX_STRING } from '../../contract/facts.ts'
import type { HeardReport } from '../../contract/heard.ts'
import { notFound } from '../../core/errors.ts'
import { heardHandlers } from '../../resources/play/heard.ts'
import { HEADERS } from '../answer.ts'
import { limitHeard } from '../auth/limit_key.ts'
import { clientOf } from '../auth/limit_rate.ts'
import { countryOf, hasOptedOut } from '../counted.ts'
import { readReport } from './heard_report.ts'
import { parseJson, readBytes } from './json_body.ts'

/**
 * `POST /v1/heard/{token}`, without Hono, zod and Drizzle, because most players send the first report of an isolate that has loaded none of them
 * (docs/decisions/0113).
 */

/** Returns a report as its schema returns it. Only for an invalid report, zod is loaded: the messages come from the schema. */
async function parseReport(json: unknown): Promise<HeardReport> {
  const report = readReport(json)
  if (report) return report
  const [{ heardOperations }, { checkBody }] = await Promise.all([
    import('../../contract/heard.ts'),
    import('./refuse.ts'),
  ])
  const { reportHeard } = heardOperations
  return checkBody(reportHeard, reportHeard.body, json) as HeardReport
}

/** Responds with 204 to a report that is counted, and to each valid report of a listener who has opted out. */
export async function answerHeard(
  { env, req: { raw } }: { env: Env; req: { raw: Request } },
  token: string,
): Promise<Response> {
  const { headers } = raw
  await limitHeard(env, token, clientOf(env, headers))
  if (token.length > MAX_STRING) throw notFound('heard_token')
  const body = await parseReport(
    parseJson(await readBytes(raw, MAX_HEARD_BYTES), headers.get('content-type') ?? '', true),
  )
  if (!hasOptedOut(raw))
    await heardHandlers.reportHeard({ params: { token }, body }, { env, now: Date.now(), country: countryOf(raw) })
  return new Response(null, { status: 204, headers: HEADERS })
}

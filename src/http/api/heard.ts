import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import { MAX_HEARD_BYTES } from '../../contract/facts.ts'
import type { HeardReport } from '../../contract/heard.ts'
import { countReport } from '../../resources/play/heard.ts'
import { HEADERS } from '../answer.ts'
import { admitReport } from '../auth/limit_key.ts'
import { addressOf } from '../auth/limit_rate.ts'
import { countryOf, hasOptedOut, siteOf } from '../counted.ts'
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
  cache: IsolateCache,
  token: string,
): Promise<Response> {
  const { headers } = raw
  const address = addressOf(env, headers)
  const grant = await admitReport(env, cache, token, address)
  const json = parseJson(await readBytes(raw, MAX_HEARD_BYTES), headers.get('content-type') ?? '', true)
  const body = await parseReport(json)
  const reporter = { grant, address, country: countryOf(raw), site: siteOf(env, raw) }
  if (!hasOptedOut(raw)) await countReport(env, reporter, body)
  return new Response(null, { status: 204, headers: HEADERS })
}

// A static import: `import()` would bundle all functions of the package and its list of patterns.
import { isbot } from 'isbot'

import type { Downloaded } from '../context.ts'
import { DAY } from '../contract/time.ts'
import { describeError } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { listeningObject } from '../listening/call_object.ts'
import { countryOf, hasOptedOut } from './counted.ts'

/**
 * Words in the names of bots that do not pretend to be a browser: crawlers, link previews, share menus, monitors, servers that read feeds or copy episodes, and
 * Apple's watch, which loads what the phone has.
 */
const BOT =
  // cspell:disable-next-line
  /(?<!\bcu)bots?(?![a-z])|crawl|spider|slurp|scan(?![a-z])|scanner|scraper|scrapy|monitor|uptime|check(?![a-z])|checker|probe(?![a-z])|validator|fetcher|preview|import(?:er)?(?![a-z])|transcri|processor|podcast[ -]sync|subscriber|feed ?parser|external(?:hit|ua)|meta-external|whatsapp|mastodon|misskey|sharing(?:extension|uiservice)|sharesheet|^atc\/|watchos|^spotify\/1\.0$|-google|google-|-user\b/i

/** Whether a `User-Agent` is that of a bot. isbot treats everything that is not a browser as a bot, so it judges only browsers. */
export const isBot = (agent: string | null) =>
  agent !== null && (agent.startsWith('Mozilla/') ? isbot(agent) : BOT.test(agent))

/** The part of Hono's context that is needed. */
interface Request {
  env: Env
  req: { raw: globalThis.Request }
  executionCtx: { waitUntil: (work: Promise<unknown>) => void }
}

/**
 * Counts a download after the response, unless a bot made it, or the listener has opted out. A failure is only logged: it must not prevent the
 * download.
 */
export function countDownload({ env, req: { raw }, executionCtx }: Request, downloaded: Downloaded): void {
  const { organization_id, source = null, ...place } = downloaded
  const count = async () => {
    if (raw.method === 'HEAD' || hasOptedOut(raw) || isBot(raw.headers.get('user-agent'))) return
    const shard = { organization_id, shard: 0 }
    const day = Math.floor(Date.now() / DAY)
    await listeningObject(env, organization_id, 0)('download', shard, {
      ...place,
      source,
      day,
      country: countryOf(raw),
    })
  }
  const logFailure = (error: unknown) =>
    log('error', 'download_not_counted', { organization_id, error: describeError(error) })
  executionCtx.waitUntil(count().catch(logFailure))
}

import type { Context as Request } from 'hono'

import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import { sha256 } from '../../adapters/crypto/secret.ts'
import type { Client } from '../../adapters/db/query.ts'
import type { Context } from '../../context.ts'
import { CHAPTER_TYPES, chapterFile } from '../../contract/chapter_files.ts'
import { LISTENER } from '../../core/principal.ts'
import { readFeed, readFeedChapters } from '../../resources/share/feed.ts'
import { limitReading } from '../auth/limit_rate.ts'
import { type AppEnv, contextOf } from '../context.ts'
import { readPrimary } from '../listen/read_nearest.ts'
import { feedXml } from './feed_xml.ts'

/** The podcast feed of a share, and the chapters of its episodes (docs/feeds.md). */

/** Players on web pages read feeds too. Caches must ask whether a feed is current, because a revoked one ends at once. */
const HEADERS = {
  'access-control-allow-origin': '*',
  'cache-control': 'no-cache',
  'content-security-policy': "default-src 'none'",
}

/** Number of episodes for which the response of a feed counts as another request, so that one address cannot keep the primary database busy. */
const EPISODES_PER_REQUEST = 50

/** Reads from the primary database, because a replica may still have a share that was revoked. */
const read = <T>(
  c: Request<AppEnv>,
  cache: IsolateCache,
  slug: string,
  load: (context: Context<Client>) => Promise<T>,
  timesOf?: (answer: T) => number,
) =>
  limitReading(
    c,
    cache,
    `share:${slug}`,
    () => readPrimary(c.env.DB, (client) => load(contextOf(c, LISTENER, cache, client))),
    timesOf,
  )

/** Whether the client has this state of the feed (RFC 9110 §13.1). The comparison is weak, because Cloudflare weakens the tags of compressed responses. */
function isUnchanged({ headers }: globalThis.Request, etag: string, changed_at: number | null): boolean {
  const tags = headers.get('if-none-match')
  if (tags !== null) return tags.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
  return changed_at !== null && changed_at <= Date.parse(headers.get('if-modified-since') ?? '')
}

/** Returns the time for `Last-Modified`, a whole second. Null until a second after it, because the feed may change once more with the same time. */
function modifiedAt(changed_at: number | null, now: number): number | null {
  if (changed_at === null) return null
  const second = Math.ceil(changed_at / 1000) * 1000
  return second + 1000 < now ? second : null
}

/** Responds with the feed of a share. */
export async function answerFeed(c: Request<AppEnv>, cache: IsolateCache, slug: string): Promise<Response> {
  const now = Date.now()
  const timesOf = ({ episodes }: { episodes: unknown[] }) => 1 + Math.floor(episodes.length / EPISODES_PER_REQUEST)
  const feed = await read(c, cache, slug, (context) => readFeed(context, slug), timesOf)
  const { share, changed_at } = feed
  c.set('organization_id', share.organization_id)
  const xml = await feedXml(feed)
  const etag = `"${(await sha256(xml)).slice(0, 32)}"`
  const modified_at = modifiedAt(changed_at, now)
  const headers = {
    ...HEADERS,
    'access-control-expose-headers': 'ETag',
    etag,
    ...(modified_at !== null && { 'last-modified': new Date(modified_at).toUTCString() }),
    ...((feed.feed.block || !share.is_custom_slug) && { 'x-robots-tag': 'noindex' }),
  }
  if (isUnchanged(c.req.raw, etag, modified_at)) return c.body(null, 304, headers)
  return c.body(xml, 200, { ...headers, 'content-type': 'application/rss+xml; charset=utf-8' })
}

/** Responds with the chapters of an episode in the format JSON Chapters. */
export async function answerChapters(
  c: Request<AppEnv>,
  cache: IsolateCache,
  slug: string,
  track_id: string,
): Promise<Response> {
  const { share, chapters } = await read(c, cache, slug, (context) => readFeedChapters(context, slug, track_id))
  c.set('organization_id', share.organization_id)
  return c.body(chapterFile('json', chapters, 0), 200, { ...HEADERS, 'content-type': CHAPTER_TYPES.json })
}

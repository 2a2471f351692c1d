import { mediaUrls } from '../../adapters/bucket/media_url.ts'
import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import { contentTypeOf } from '../../contract/facts.ts'
import { notFound } from '../../core/errors.ts'
import { type FileType, findShareFile } from '../../resources/share/share_file.ts'
import { HEADERS } from '../answer.ts'
import { limitReading } from '../auth/limit_rate.ts'
import type { ListenerRequest } from '../listen/answer_listener.ts'
import { readPrimary } from '../listen/read_nearest.ts'
import { normalizeSlug } from './share_page.ts'

/**
 * Answers links to files (docs/share.md#links-to-files). Podcast apps and validators ask with `HEAD` first, which a presigned URL would refuse
 * (docs/architecture.md#r2), so the service answers it. It reads nothing but the share and its track: no play session is created.
 */

const PATH = /^\/s\/([\w-]+)(?:(\/feed)?\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}))?\.(mp3|m4a|opus|flac)$/

/** The smallest range that is a download. Apps request the first two bytes to find out whether a server supports ranges. */
const DOWNLOADED = 3

/**
 * Whether a `GET` is a download: of the whole file, or of its start (docs/counting.md). A request for the rest continues one, and a conditional request
 * checks a file that the client has.
 */
function isDownload({ headers }: Request): boolean {
  if (headers.has('if-none-match') || headers.has('if-modified-since')) return false
  const [range, first = '', last = ''] = /^bytes=[\s,]*(\d*)-(\d*)/i.exec(headers.get('range') ?? '') ?? []
  // The storage ignores a header that is no range of bytes, and sends the whole file.
  if (range === undefined) return true
  return first !== '' && Number(first) === 0 && (last === '' || Number(last) + 1 >= DOWNLOADED)
}

/** Whether the client of a `HEAD` has this state of the file already (RFC 9110 §13.1). */
function isUnchanged({ headers }: Request, { httpEtag, uploaded }: R2Object): boolean {
  const tags = headers.get('if-none-match')
  if (tags !== null) return tags.split(',').some((tag) => ['*', httpEtag].includes(tag.trim().replace(/^W\//, '')))
  return Math.floor(uploaded.getTime() / 1000) * 1000 <= Date.parse(headers.get('if-modified-since') ?? '')
}

/** Answers `HEAD` with the ETag and the time of the storage, which clients send back to the storage in `If-Range` and `If-None-Match`. */
async function describe({ env, req: { raw } }: ListenerRequest, path: string): Promise<Response> {
  const object = await env.MEDIA.head(path)
  if (!object) throw notFound('file')
  const headers = {
    ...HEADERS,
    'access-control-expose-headers': 'Accept-Ranges, ETag',
    'cache-control': 'no-cache',
    etag: object.httpEtag,
    'last-modified': object.uploaded.toUTCString(),
  }
  if (isUnchanged(raw, object)) return new Response(null, { status: 304, headers })
  const more = {
    'accept-ranges': 'bytes',
    'content-length': String(object.size),
    'content-type': contentTypeOf(path.split('.').at(-1)!),
  }
  return new Response(null, { headers: { ...headers, ...more } })
}

/** Answers `HEAD`, and redirects `GET` to a signed URL of the file. */
export async function answerFile(
  request: ListenerRequest,
  cache: IsolateCache,
  path: string,
  executionCtx: Pick<ExecutionContext, 'waitUntil'>,
): Promise<Response> {
  const { env, req } = request
  const [, name, feed, track_id = null, type] = PATH.exec(path.toLowerCase()) ?? []
  const slug = normalizeSlug(name)
  if (!slug) throw notFound('file')
  const link = { slug, track_id, type: type as FileType }
  const now = Date.now()
  const { share, track, file } = await limitReading(request, cache, `share:${slug}`, () =>
    // The primary, because the links of a revoked share end at once.
    readPrimary(env.DB, (db) => findShareFile(db, now, link)),
  )
  const { organization_id, scope, resource_id: id } = share
  request.set('organization_id', organization_id)
  if (req.raw.method === 'HEAD') return describe(request, file.path)
  const mediaUrl = await mediaUrls(env, now, share.expires_at ?? Infinity)
  const location = await mediaUrl(file.path, file.size)
  if (isDownload(req.raw)) {
    const via = { scope, id, share: share.id }
    const source = feed ? 'feed' : 'file'
    const downloaded = { organization_id, track: track.id, collection: track.collection_id, via, source } as const
    const count = async () =>
      (await import('../count_download.ts')).countDownload({ env, req, executionCtx }, downloaded)
    executionCtx.waitUntil(count())
  }
  return new Response(null, { status: 302, headers: { ...HEADERS, location } })
}

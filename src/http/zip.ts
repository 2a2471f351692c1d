import type { Context as Request, Hono } from 'hono'

import { attachment } from '../adapters/bucket/attachment.ts'
import type { IsolateCache } from '../adapters/cache/isolate_cache.ts'
import { openDatabase } from '../adapters/db/database.ts'
import type { Context, Downloaded } from '../context.ts'
import { PlaySessionId } from '../contract/play.ts'
import { describeError, notFound } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { LISTENER } from '../core/principal.ts'
import { findZip, type ZipEntry } from '../resources/play/zip.ts'
import { findSelectionZip } from '../resources/play/zip_selection.ts'
import { requestId } from './answer.ts'
import { countedPart, limitReading } from './auth/limit_rate.ts'
import { type AppEnv, contextOf } from './context.ts'
import { countDownload } from './count_download.ts'
import { readNearest } from './listen/read_nearest.ts'

/**
 * `GET /zip/{play_session_id}` returns all tracks of a downloadable session, and `GET /zip/selection/{token}` selected tracks, without compression. The
 * files are streamed from the bucket through the Worker. The CRC of each file is computed while the file is streamed, and written after it (docs/decisions/0053).
 */

/** Yields the files in order. Each file is opened when the previous one is complete. Throws if a file is missing or its size has changed. */
async function* open(env: Env, entries: readonly ZipEntry[]) {
  for (const { name, path, size } of entries) {
    const object = await env.MEDIA.get(path)
    if (object?.size !== size) throw new Error('a file is gone, or another one')
    yield {
      name,
      size,
      lastModified: object.uploaded,
      input: object.body as unknown as ReadableStream<Uint8Array<ArrayBuffer>>,
    }
  }
}

interface Zip {
  file_name: string
  entries: ZipEntry[]
  organization_id: string
  /** Only for the ZIP of a session: ZIPs of selected tracks are made by the organization itself. */
  downloaded?: Downloaded
}

/** Responds with a ZIP. Its files are read while it is sent. */
async function respond(c: Request<AppEnv>, { file_name, entries, organization_id, downloaded }: Zip) {
  c.set('organization_id', organization_id)
  const { makeZip, predictLength } = await import('client-zip')
  const length = predictLength(entries)
  const headers = {
    'content-type': 'application/zip',
    'content-disposition': attachment(file_name),
    'cache-control': 'no-store',
  }
  if (c.req.raw.method === 'HEAD') return c.body(null, 200, { ...headers, 'content-length': String(length) })
  if (downloaded) countDownload(c, downloaded)
  // The fixed length lets the client detect a truncated download as an error.
  const { readable, writable } = new FixedLengthStream(length)
  const api_request_id = requestId(c)
  const files = open(c.env, entries)
  let isStopped = false
  // client-zip calls `throw` on its source when the client stops reading, which is not an error.
  const stop = () => {
    isStopped = true
    return files.return()
  }
  const read = { [Symbol.asyncIterator]: () => ({ next: () => files.next(), throw: stop }) }
  const logFailure = (error: unknown) =>
    isStopped || log('error', 'zip_ended', { api_request_id, error: describeError(error) })
  c.executionCtx.waitUntil(makeZip(read).pipeTo(writable).catch(logFailure))
  return c.body(readable, 200, headers)
}

export function mountZip(app: Hono<AppEnv>, cache: IsolateCache): void {
  const find = (c: Request<AppEnv>, secret: string, read: (context: Context) => Promise<Zip>) =>
    limitReading(c, cache, secret, () =>
      readNearest(c.env, ({ $client }) => read(contextOf(c, LISTENER, cache, openDatabase($client)))),
    )
  app.get('/zip/:play_session_id', async (c: Request<AppEnv, '/zip/:play_session_id'>) => {
    const id = PlaySessionId.safeParse(c.req.param('play_session_id'))
    if (!id.success) throw notFound('play session')
    return respond(
      c,
      await find(c, countedPart(id.data), (context) => findZip(context, id.data, c.req.query('variant'))),
    )
  })
  app.get('/zip/selection/:token', async (c: Request<AppEnv, '/zip/selection/:token'>) => {
    const token = c.req.param('token')
    return respond(c, await find(c, countedPart(token), (context) => findSelectionZip(context, token)))
  })
}

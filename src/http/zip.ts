import type { Context as Request, Hono } from 'hono'

import { openDatabase } from '../adapters/database.ts'
import { attachment } from '../adapters/media.ts'
import type { Memory } from '../adapters/memory.ts'
import { Id } from '../contract/common.ts'
import { PlaySessionCreate } from '../contract/play.ts'
import { ApiError, describeError, notFound, unauthorized } from '../errors.ts'
import { LISTENER } from '../principal.ts'
import { playHandlers } from '../resources/play.ts'
import { isShareKey } from '../resources/share_holder.ts'
import { findZip, type ZipEntry } from '../resources/zip.ts'
import { requestId } from './answer.ts'
import { shareOf } from './authenticate.ts'
import { type AppEnv, contextOf } from './context.ts'
import { headers, message, page } from './embed.ts'
import { limitKey } from './limit_key.ts'
import { clientOf, limitReading } from './limit_rate.ts'
import { formField, formLimit, STYLE, words } from './share_page.ts'

/**
 * `GET /zip/{play_session_id}`: everything that a downloadable session plays, stored and not deflated, streamed from the bucket through here.
 * CRCs are reckoned while the bytes pass and stand behind each file (docs/decisions/0053). `POST /s/{slug}/zip` leads there from the page of a
 * share.
 */

/** The files one after the other, each opened when its turn has come. One that is gone, or not as long as it was, ends the whole. */
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

/** A session that plays all of a share as a ZIP, of who has the share's key. */
async function sessionForZip(c: Request<AppEnv>, memory: Memory, key: string): Promise<string> {
  const { env, req } = c
  if (!isShareKey(key)) throw unauthorized('Send the key of the share as the field key')
  const holder = await shareOf(env, memory.keys, key, req.raw)
  await limitKey(env, holder, clientOf(req.raw.headers))
  const { scope, id } = holder.binding!
  const body = PlaySessionCreate.parse({ [`${scope}_id`]: id, is_downloadable: true })
  const context = contextOf(c, holder, memory, openDatabase(env.DB))
  const { play_session_id } = await playHandlers.createPlaySession({ params: { scope }, body } as never, context)
  await findZip(context, play_session_id)
  return play_session_id
}

export function mountZip(app: Hono<AppEnv>, memory: Memory): void {
  app.post('/s/:slug/zip', formLimit, async (c) => {
    try {
      return c.redirect(`/zip/${await sessionForZip(c, memory, await formField(c, 'key'))}`, 303)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const nonce = crypto.randomUUID()
      const { title, text } =
        error.status === 401 ? words.ended : { title: 'This cannot be downloaded', text: error.message }
      const body = String(await page(nonce, title, 'auto', '', message(title, text), STYLE))
      return c.body(body, error.status as 401, { ...headers(nonce), ...error.headers })
    }
  })
  app.get('/zip/:play_session_id', async (c: Request<AppEnv, '/zip/:play_session_id'>) => {
    const id = Id.safeParse(c.req.param('play_session_id'))
    if (!id.success) throw notFound('play session')
    const context = contextOf(c, LISTENER, memory, openDatabase(c.env.DB))
    const found = await limitReading(c, memory, id.data, () => findZip(context, id.data, c.req.query('variant')))
    c.set('organization_id', found.session.organization_id)
    const { makeZip, predictLength } = await import('client-zip')
    const length = predictLength(found.entries)
    const more = {
      'content-type': 'application/zip',
      'content-disposition': attachment(found.file_name),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    }
    if (c.req.raw.method === 'HEAD') return c.body(null, 200, { ...more, 'content-length': String(length) })
    // Whoever gets fewer bytes than were promised knows that something is missing.
    const { readable, writable } = new FixedLengthStream(length)
    const api_request_id = requestId(c)
    const files = open(c.env, found.entries)
    let isStopped = false
    // client-zip throws into what it reads when nobody takes the ZIP any more, which is no fault.
    const stop = () => {
      isStopped = true
      return files.return()
    }
    const read = { [Symbol.asyncIterator]: () => ({ next: () => files.next(), throw: stop }) }
    const say = (error: unknown) =>
      isStopped || console.error(JSON.stringify({ event: 'zip_ended', api_request_id, error: describeError(error) }))
    c.executionCtx.waitUntil(makeZip(read).pipeTo(writable).catch(say))
    return c.body(readable, 200, more)
  })
}

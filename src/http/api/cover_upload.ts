import type { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'

import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import { verifyCoverGrant } from '../../adapters/crypto/token.ts'
import { openWithRetries } from '../../adapters/db/database.ts'
import { systemOf } from '../../context.ts'
import { isCover, MAX_COVER_BYTES } from '../../contract/facts.ts'
import { ApiError } from '../../core/errors.ts'
import { processCover } from '../../pipeline/cover.ts'
import { HEADERS, requestId } from '../answer.ts'
import { limitCovers } from '../auth/limit_key.ts'
import type { AppEnv } from '../context.ts'

/** Maximum bytes of a request: an image, plus 100,000 bytes for the multipart framing. */
const MAX_REQUEST_BYTES = MAX_COVER_BYTES + 100_000

async function readImage(request: Request): Promise<Uint8Array> {
  const type = request.headers.get('content-type') ?? ''
  let image: Uint8Array
  if (/^multipart\/form-data/i.test(type)) {
    const form = await request.formData().catch(() => null)
    const file = form?.get('file')
    if (!(file instanceof Blob)) {
      const message = 'Send the image as the multipart field "file"'
      throw new ApiError('invalid_request', message, [{ path: 'file', message: 'is missing' }])
    }
    image = new Uint8Array(await file.arrayBuffer())
  } else {
    image = new Uint8Array(await request.arrayBuffer().catch(rejectAborted))
  }
  if (image.length > MAX_COVER_BYTES) throw imageTooLarge()
  // The check looks only at the first bytes. The transcoder checks the type again and decodes the image.
  if (!isCover(image)) {
    throw new ApiError('unsupported_image', 'A cover must be a JPEG, PNG, WebP, GIF or AVIF image')
  }
  return image
}

/** The client disconnected during the upload. This is not an error of the service, and no client receives the response. */
const rejectAborted = () => {
  throw new ApiError('invalid_request', 'The image has not arrived whole')
}

const imageTooLarge = () => new ApiError('image_too_large', `A cover must be at most ${MAX_COVER_BYTES} bytes`)

/**
 * `POST /v1/cover_upload/{token}` receives the uploads of covers (docs/architecture.md#covers). It accepts `multipart/form-data` with the field
 * `file`, or the image as the body. It responds when the square images are ready. If the transcoder cannot be reached, it responds with 202 and a job
 * generates the images later.
 */
export function mountCoverUpload(app: Hono<AppEnv>, cache: IsolateCache): void {
  const limit = bodyLimit({
    maxSize: MAX_REQUEST_BYTES,
    onError: () => {
      throw imageTooLarge()
    },
  })
  app.post('/v1/cover_upload/:token', limit, async (c) => {
    const grant = await verifyCoverGrant(c.env, c.req.param('token'))
    c.set('organization_id', grant.organization_id)
    await limitCovers(c.env, grant.owner_id)
    const outcome = await processCover(
      systemOf(c.env, cache, openWithRetries(c.env.DB)),
      grant,
      await readImage(c.req.raw),
    )
    if (typeof outcome !== 'string') {
      const { code, message } = outcome
      if (code === 'unsupported_image' || code === 'image_too_large') throw new ApiError(code, message)
      throw new ApiError('unavailable', message, undefined, { 'retry-after': '1' })
    }
    const answer = { ok: true, api_request_id: requestId(c), [`${grant.owner}_id`]: grant.owner_id }
    return c.json({ ...answer, status: outcome }, outcome === 'processing' ? 202 : 200, HEADERS)
  })
}

import type { Hono } from 'hono'

import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import { verifyCoverGrant } from '../../adapters/crypto/token.ts'
import { openWithRetries } from '../../adapters/db/database.ts'
import { systemOf } from '../../context.ts'
import { ApiError } from '../../core/errors.ts'
import { processCover } from '../../domain/cover.ts'
import { HEADERS, requestId } from '../answer.ts'
import { limitCovers } from '../auth/limit_key.ts'
import type { AppEnv } from '../context.ts'
import { announcedSize, coverImage } from './cover_image.ts'

/**
 * `POST /v1/cover_upload/{token}` receives the uploads of covers (docs/architecture.md#covers). It accepts `multipart/form-data` with the field
 * `file`, or the image as the body. It responds when the square images are ready. If the transcoder cannot be reached, it responds with 202 and a job
 * generates the images later.
 */
export function mountCoverUpload(app: Hono<AppEnv>, cache: IsolateCache): void {
  app.post('/v1/cover_upload/:token', async (c) => {
    const grant = await verifyCoverGrant(c.env, c.req.param('token'))
    c.set('organization_id', grant.organization_id)
    await limitCovers(c.env, grant.owner_id)
    const { raw } = c.req
    const system = systemOf(c.env, cache, openWithRetries(c.env.DB))
    const outcome = await processCover(system, grant, coverImage(raw), announcedSize(raw))
    if (typeof outcome !== 'string') {
      const { code, message } = outcome
      if (code === 'unsupported_image' || code === 'image_too_large') throw new ApiError(code, message)
      throw new ApiError('unavailable', message, undefined, { 'retry-after': '1' })
    }
    const answer = { ok: true, api_request_id: requestId(c), [`${grant.owner}_id`]: grant.owner_id }
    return c.json({ ...answer, status: outcome }, outcome === 'processing' ? 202 : 200, HEADERS)
  })
}

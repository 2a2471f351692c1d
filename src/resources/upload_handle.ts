import { signUrl } from '../adapters/media.ts'
import { signCoverGrant } from '../adapters/token.ts'
import type { CoverOwner } from '../adapters/work_schema.ts'
import type { Context } from '../context.ts'
import { UPLOAD_TTL } from '../contract/facts.ts'
import type { UploadHandle } from '../contract/media.ts'
import { ApiError } from '../errors.ts'

/** What the client said of its file; signed into the URL, so that R2 refuses anything else. */
export interface Facts {
  file_size?: number | undefined
  content_type?: string | undefined
}

/** 413 for a file that would be refused after its upload anyway. */
export function checkFacts(env: Env, { file_size = 0 }: Facts): void {
  const limit = Number(env.MAX_UPLOAD_BYTES)
  if (file_size > limit) {
    const message = `must be at most ${limit} bytes`
    throw new ApiError('file_too_large', `file_size ${message}`, [{ path: 'file_size', message }])
  }
}

/** The handle to `PUT` audio with, straight to R2. */
export async function audioUpload({ env, now }: Context, path: string, facts: Facts): Promise<UploadHandle> {
  const headers = {
    ...(facts.content_type && { 'content-type': facts.content_type }),
    ...(facts.file_size && { 'content-length': String(facts.file_size) }),
  }
  return handle('PUT', await signUrl(env, 'PUT', path, { expires_in: UPLOAD_TTL, headers }), now)
}

interface Owner {
  id: string
  organization_id: string
  collection_id: string
}

/** The handle to `POST` a cover with: R2 has no presigned POST, so it leads to the Worker (docs/architecture.md#covers). */
export async function coverUpload(context: Context, owner: CoverOwner, row: Owner): Promise<UploadHandle> {
  const grant = {
    owner,
    owner_id: row.id,
    collection_id: row.collection_id,
    organization_id: row.organization_id,
  }
  const token = await signCoverGrant(context.env, grant, context.now + UPLOAD_TTL * 1000)
  return handle('POST', `${context.base_url}/v1/cover_upload/${token}`, context.now)
}

/** An upload handle that begins now and stays valid for an hour (specification §8). */
const handle = (method: 'PUT' | 'POST', upload_url: string, now: number): UploadHandle => ({
  method,
  upload_url,
  ttl: UPLOAD_TTL,
  expires_at: new Date(now + UPLOAD_TTL * 1000).toISOString(),
})

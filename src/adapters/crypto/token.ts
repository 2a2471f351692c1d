import { sign, verify } from 'hono/utils/jwt/jwt'
import { JwtTokenExpired } from 'hono/utils/jwt/types'

import type { CoverOwner } from '../../contract/cover.ts'
import { ApiError } from '../../core/errors.ts'

/**
 * The contents of the token in a cover's upload URL. The token authorizes uploads of images for one owner until it expires. It is a JWT (HS256) that
 * is signed with `SIGNING_SECRET`.
 */
export interface CoverGrant {
  owner: CoverOwner
  owner_id: string
  /** The collection whose folder holds the cover. A track's cover is in a subfolder named after the track's index. */
  collection_id: string
  organization_id: string
}

/** Signs a grant. `expires_at` is in milliseconds since 1970. */
export const signCoverGrant = (env: Env, grant: CoverGrant, expires_at: number) =>
  sign({ aud: 'cover_upload', ...grant, exp: Math.floor(expires_at / 1000) }, env.SIGNING_SECRET, 'HS256')

/** Verifies a token and returns its grant. Throws `upload_link_expired` or `upload_link_invalid`. */
export async function verifyCoverGrant(env: Env, token: string): Promise<CoverGrant> {
  try {
    const payload = await verify(token, env.SIGNING_SECRET, { alg: 'HS256', aud: 'cover_upload' })
    return payload as unknown as CoverGrant
  } catch (error) {
    if (error instanceof JwtTokenExpired) {
      throw new ApiError('upload_link_expired', 'This upload URL has expired; ask for a new one')
    }
    throw new ApiError('upload_link_invalid', 'This upload URL is not valid')
  }
}

import { sign, verify } from 'hono/utils/jwt/jwt'
import { JwtTokenExpired } from 'hono/utils/jwt/types'

import type { CoverOwner } from '../../contract/cover.ts'
import { ApiError, notFound, sessionExpired } from '../../core/errors.ts'

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

/** The contents of the token in the URL of a ZIP of selected tracks (docs/decisions/0053). */
export interface ZipGrant {
  organization_id: string
  track_ids: string[]
  variant?: string | undefined
  title?: string | undefined
}

/** Signs a grant. The ids are packed as bytes, because a URL may have 16,000 characters. */
export function signZipGrant(env: Env, { track_ids, ...grant }: ZipGrant, expires_at: number) {
  const bytes = Uint8Array.from(track_ids.join('').replaceAll('-', '').match(/../g)!, (hex) => Number.parseInt(hex, 16))
  const ids = btoa(String.fromCharCode(...bytes))
  return sign({ aud: 'zip', ...grant, ids, exp: Math.floor(expires_at / 1000) }, env.SIGNING_SECRET, 'HS256')
}

/** Verifies a token and returns its grant. Throws 410 if it has expired, and 404 if it is not valid. */
export async function verifyZipGrant(env: Env, token: string): Promise<ZipGrant> {
  try {
    const payload = await verify(token, env.SIGNING_SECRET, { alg: 'HS256', aud: 'zip' })
    const { ids, ...grant } = payload as unknown as ZipGrant & { ids: string }
    const hex = Array.from(atob(ids), (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('')
    const track_ids = hex.match(/.{32}/g)!.map((id) => id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'))
    return { ...grant, track_ids }
  } catch (error) {
    throw error instanceof JwtTokenExpired ? sessionExpired('URL of this ZIP') : notFound('ZIP')
  }
}

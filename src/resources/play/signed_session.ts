import { createLru } from '../../adapters/cache/lru.ts'
import type { EmbedRow } from '../../adapters/db/play/embed_rows.ts'
import type { PlayedSession, PlayRow } from '../../adapters/db/play/play_rows.ts'
import { type SignedRow, signedRows, type SignedViewRow } from '../../adapters/db/play/signed_rows.ts'
import type { Client } from '../../adapters/db/query.ts'
import type { Context } from '../../context.ts'
import { DEFAULT_VARIANTS, KEY_CACHE_SECONDS } from '../../contract/facts.ts'
import { MINUTE } from '../../contract/time.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { queueKeyUse } from '../../domain/key_use.ts'
import { defaultVariants } from '../keys/default_variants.ts'
import { hashListener } from './listener_hash.ts'
import { type SessionToken, verifySessionToken } from './session_token.ts'
import { fingerprint } from './share_token.ts'

/**
 * Reads a signed play session. Whether its key or share is still valid is part of the statement that reads the view, so a signed session needs no more trips to the
 * database than a row. A new isolate loads this file with its first token.
 */

/** Returns the variants that a session plays: of those in the token, the ones that the key or share allows. Throws 403 if it allows none of them. */
function variantsOf(wanted: string[], granted: string[] | null): string[] {
  if (wanted.length === 0) return defaultVariants(granted)
  const allowed = granted ? wanted.filter((index) => granted.includes(index)) : wanted
  if (allowed.length === 0)
    throw new ApiError('insufficient_scope', `The key or share allows none of the variants ${wanted.join(', ')}`)
  return allowed
}

/** The keys whose use this isolate has reported. The row shows it only after a while, and until then each new listener would report it again. */
const reported = createLru<true>({ entries: 1000, bytes: 100_000 })

async function reportUse(env: Env, key: SignedRow, now: number): Promise<void> {
  if (reported.get(key.id, now)) return
  reported.set(key.id, true, { organization_id: '', bytes: 100, until: now + MINUTE })
  await queueKeyUse(env, key)
}

const ENDED = {
  key: 'The key of this signed play session was revoked, was rotated or has expired; sign with a new one',
  share: 'The share of this play session was revoked, has ended, or has another address or password',
}
const ended = (signer: keyof typeof ENDED) => new ApiError('session_expired', ENDED[signer])

/** Verifies a token, and returns how to read its session. `text` is the token. */
export async function readSigned(env: Env, text: string, now: number) {
  const token = await verifySessionToken(env, text, now)
  const { signer, signer_id, hash, scope, resource_id, expires_at } = token
  const rows = signedRows[signer]
  const values = {
    signer_id,
    hash,
    now,
    scope,
    resource_id,
    expires_at,
    is_downloadable: token.is_downloadable ? 1 : 0,
    has_listener: token.listener === null ? 0 : 1,
  }
  const read = async ([first, ...others]: SignedViewRow[]): Promise<PlayRow[]> => {
    // Without a row, the key or share no longer exists, or the secret of the key is another one.
    if (!first?.session) throw ended(signer)
    const session = await toSession(env, token, text, first.session, now)
    if (signer === 'key') await reportUse(env, first.session, now)
    return [first, ...others].map((row) => ({ ...row, session }))
  }
  return {
    async readTrack(db: Client, track_id: string): Promise<PlayRow | undefined> {
      const row = await rows.track.get(db, { ...values, track_id })
      return (await read(row ? [row] : []))[0]
    },
    bindView: (db: Client, wanted: { views: number; from: string | null } | null) =>
      wanted ? rows.next.bind(db, { ...values, ...wanted }) : rows.first.bind(db, values),
    decodeView: async (found: Record<string, unknown>[]) => read(rows.first.decode(found)),
    bindEmbed: (db: Client) => rows.embed.bind(db, values),
    async decodeEmbed(found: Record<string, unknown>[]): Promise<EmbedRow> {
      const [row] = rows.embed.decode(found)
      if (!row?.session) throw ended(signer)
      if (signer === 'share') await checkShare(env, token, row.session)
      if (!row.session.resource_id) throw notFound(scope)
      return row
    },
    bindLists: (db: Client, limit: number) =>
      Object.values(rows.lists).map((list) => list.bind(db, { ...values, limit })),
  }
}

/**
 * Throws 403 on web pages of other sites than the key allows. Browsers omit `Origin` only in same-origin requests, such as those of the service's own
 * pages.
 */
function checkSite({ origin, base_url }: Pick<Context, 'origin' | 'base_url'>, allowed: string[] | null): void {
  if (!allowed || origin === null || allowed.includes(origin.toLowerCase()) || origin === new URL(base_url).origin)
    return
  throw new ApiError('origin_not_allowed', `This signed play session may not be used on ${origin.slice(0, 255)}`)
}

type Share = Pick<SignedRow, 'slug' | 'password_hash'>

/** Throws 410 if a share has another address or password than when it signed the token. */
async function checkShare(env: Env, { signer_id, hash }: SessionToken, { slug, password_hash }: Share): Promise<void> {
  const isSame = hash === (await fingerprint(env, { id: signer_id, slug: slug!, password_hash }))
  if (!isSame) throw ended('share')
}

/** Returns the session of a token, within the limits of its key or share. Throws 404 if the key does not apply to the resource. */
async function toSession(
  env: Env,
  token: SessionToken,
  id: string,
  row: SignedRow,
  now: number,
): Promise<PlayedSession> {
  const { organization_id, resource_id, is_downloadable, expires_at, allowed_origins, listener_key } = row
  const { scope, created_at, listener, session_uuid, signer_id } = token
  const isShare = token.signer === 'share'
  if (isShare) await checkShare(env, token, row)
  if (resource_id === null) throw notFound(scope)
  // A share plays all of its variants unless the token names some.
  const granted = isShare ? (row.variants ?? DEFAULT_VARIANTS) : row.variants
  const wanted = isShare && token.variants.length === 0 ? granted! : token.variants
  return {
    id,
    organization_id,
    scope,
    resource_id,
    variants: variantsOf(wanted, granted),
    is_downloadable,
    expires_at,
    created_at,
    share_id: isShare ? signer_id : null,
    listener: listener === null || listener_key === null ? null : await hashListener(listener_key, listener),
    signed: {
      signer_id,
      session_uuid,
      until: now + KEY_CACHE_SECONDS * 1000,
      allowed_origins,
      checkSite: (request) => checkSite(request, allowed_origins),
    },
  }
}

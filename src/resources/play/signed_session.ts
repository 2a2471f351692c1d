import { createLru } from '../../adapters/cache/lru.ts'
import type { EmbedRow } from '../../adapters/db/play/embed_rows.ts'
import type { PlayedSession, PlayRow } from '../../adapters/db/play/play_rows.ts'
import { type SignedRow, signedRows, type SignedViewRow } from '../../adapters/db/play/signed_rows.ts'
import type { Client } from '../../adapters/db/query.ts'
import type { Context } from '../../context.ts'
import { KEY_CACHE_SECONDS } from '../../contract/facts.ts'
import { MINUTE } from '../../contract/time.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { queueKeyUse } from '../../domain/key_use.ts'
import { defaultVariants } from '../keys/default_variants.ts'
import { hashListener } from './listener_hash.ts'
import { type SessionToken, verifySessionToken } from './session_token.ts'

/**
 * Reads a signed play session. Whether its key is still valid is part of the statement that reads the view, so a signed session needs no more trips to the
 * database than a row. A new isolate loads this file with its first token.
 */

/** Returns the variants that a session plays: of those in the token, the ones that the key allows. Throws 403 if it allows none of them. */
function variantsOf(wanted: string[], granted: string[] | null): string[] {
  if (wanted.length === 0) return defaultVariants(granted)
  const allowed = granted ? wanted.filter((index) => granted.includes(index)) : wanted
  if (allowed.length === 0)
    throw new ApiError('insufficient_scope', `The signing key allows none of the variants ${wanted.join(', ')}`)
  return allowed
}

/** The keys whose use this isolate has reported. The row shows it only after a while, and until then each new listener would report it again. */
const reported = createLru<true>({ entries: 1000, bytes: 100_000 })

async function reportUse(env: Env, key: SignedRow, now: number): Promise<void> {
  if (reported.get(key.id, now)) return
  reported.set(key.id, true, { organization_id: '', bytes: 100, until: now + MINUTE })
  await queueKeyUse(env, key)
}

const ended = () =>
  new ApiError(
    'session_expired',
    'The key of this signed play session was revoked, was rotated or has expired; sign with a new one',
  )

/** Verifies a token, and returns how to read its session. `text` is the token. */
export async function readSigned(env: Env, text: string, now: number) {
  const token = await verifySessionToken(env, text, now)
  const { key_id, hash, scope, resource_id, expires_at } = token
  const values = {
    key_id,
    hash,
    now,
    scope,
    resource_id,
    expires_at,
    is_downloadable: token.is_downloadable ? 1 : 0,
    has_listener: token.listener === null ? 0 : 1,
  }
  const read = async ([first, ...others]: SignedViewRow[]): Promise<PlayRow[]> => {
    // Without a row, the key no longer exists or its secret is another one.
    if (!first?.session) throw ended()
    const session = await toSession(token, text, first.session, now)
    await reportUse(env, first.session, now)
    return [first, ...others].map((row) => ({ ...row, session }))
  }
  return {
    async readTrack(db: Client, track_id: string): Promise<PlayRow | undefined> {
      const row = await signedRows.track.get(db, { ...values, track_id })
      return (await read(row ? [row] : []))[0]
    },
    bindView: (db: Client, wanted: { views: number; from: string | null } | null) =>
      wanted ? signedRows.next.bind(db, { ...values, ...wanted }) : signedRows.first.bind(db, values),
    decodeView: async (rows: Record<string, unknown>[]) => read(signedRows.first.decode(rows)),
    bindEmbed: (db: Client) => signedRows.embed.bind(db, values),
    decodeEmbed(rows: Record<string, unknown>[]): EmbedRow {
      const [row] = signedRows.embed.decode(rows)
      if (!row) throw ended()
      if (!row.session?.resource_id) throw notFound(scope)
      return row
    },
    bindLists: (db: Client, limit: number) =>
      Object.values(signedRows.lists).map((list) => list.bind(db, { ...values, limit })),
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

/** Returns the session of a token, within the limits of its key. Throws 404 if the key does not apply to the resource. */
async function toSession(token: SessionToken, id: string, row: SignedRow, now: number): Promise<PlayedSession> {
  const {
    id: api_key_id,
    organization_id,
    resource_id,
    is_downloadable,
    expires_at,
    allowed_origins,
    listener_key,
  } = row
  const { scope, created_at, listener, session_uuid } = token
  if (resource_id === null) throw notFound(scope)
  return {
    id,
    organization_id,
    scope,
    resource_id,
    variants: variantsOf(token.variants, row.variants),
    is_downloadable,
    expires_at,
    created_at,
    share_id: null,
    listener: listener === null || listener_key === null ? null : await hashListener(listener_key, listener),
    signed: {
      api_key_id,
      session_uuid,
      until: now + KEY_CACHE_SECONDS * 1000,
      allowed_origins,
      checkSite: (request) => checkSite(request, allowed_origins),
    },
  }
}

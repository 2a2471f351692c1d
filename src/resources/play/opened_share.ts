import { openedRows } from '../../adapters/db/play/opened_rows.ts'
import type { PlayRow } from '../../adapters/db/play/play_rows.ts'
import type { Client } from '../../adapters/db/query.ts'
import { DEFAULT_VARIANTS, SHARE_SESSION_TTL } from '../../contract/facts.ts'
import { signShared } from './share_token.ts'

/** The session of a visitor who opens a share. A new isolate loads this file with the first page of a share that a browser shows. */

/** Returns the statement that reads the first view of a share, whose rows `decodeOpened` decodes. */
export const bindOpened = (db: Client, key: { slug: string; password_hash: string | null }, now: number) =>
  openedRows.bind(db, { ...key, now, expires_at: (Math.floor(now / 1000) + SHARE_SESSION_TTL) * 1000 })

/** Signs the session, and returns its view. The session is null if the share has ended or has another password. */
export const decodeOpened = async (env: Env, rows: Record<string, unknown>[], now: number): Promise<PlayRow[]> =>
  Promise.all(
    openedRows.decode(rows).map(async ({ session: share, ...view }) => {
      if (!share) return { ...view, session: null }
      const { id: share_id, organization_id, scope, resource_id, variants, is_downloadable, expires_at } = share
      const wanted = { scope, id: resource_id, variants: null, is_downloadable, expires_in: Infinity }
      const { token, session_uuid, created_at } = await signShared(env, share, wanted, now)
      // The page itself shows this view, so no cache and no other site gets it.
      const signed = {
        signer_id: share_id,
        session_uuid,
        until: now,
        allowed_origins: null,
        checkSite: () => undefined,
      }
      const facts = {
        id: token,
        organization_id,
        scope,
        resource_id,
        is_downloadable,
        expires_at,
        created_at,
        share_id,
      }
      return { ...view, session: { ...facts, variants: variants ?? DEFAULT_VARIANTS, listener: null, signed } }
    }),
  )

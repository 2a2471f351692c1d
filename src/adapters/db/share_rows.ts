import { columnsOf, selectOf } from './query.ts'
import type { ShareRow } from './schema/shares.ts'

/** The columns of a share. Both parts are null for an unknown slug; `retired` is the slug of a share that was revoked or renamed. */
export const SHARE_PARTS = {
  share: columnsOf<ShareRow>('shares')({
    id: 'plain',
    organization_id: 'plain',
    slug: 'plain',
    is_custom_slug: 'flag',
    scope: 'plain',
    resource_id: 'plain',
    title: 'plain',
    text: 'plain',
    links: 'json',
    variants: 'json',
    is_downloadable: 'flag',
    allowed_origins: 'json',
    expires_at: 'plain',
    password_hash: 'plain',
    feed: 'json',
    seq: 'plain',
    created_at: 'plain',
  }),
  retired: columnsOf<{ slug: string }>('retired_slugs')({ slug: 'plain' }),
}
/** The tables of `SHARE_PARTS`. Parameter: `slug`. */
export const FROM_SHARES = `from (select :slug as slug) as asked left join shares on shares.slug = asked.slug
  left join retired_slugs on shares.id is null and retired_slugs.slug = asked.slug`

/** Selects the share with a slug. Parameter: `slug`. */
export const shareRows = selectOf(SHARE_PARTS)(FROM_SHARES)
export type FoundShare = NonNullable<Awaited<ReturnType<(typeof shareRows)['get']>>>

/**
 * Creates the session of a share's page, unless the share has ended or has another password. The session has the facts of one that the page's player
 * would create (`createPlaySession`): it ends at a whole second, with the share at the latest.
 */
const INSERT = `insert into play_sessions (id, organization_id, scope, resource_id, metadata, variants, is_downloadable, expires_at, created_at, share_id)
  select ?1, organization_id, scope, resource_id, '{}', coalesce(variants, ?2), is_downloadable,
    min(?3, coalesce(expires_at / 1000 * 1000, ?3)), ?4, id
  from shares where slug = ?5 and password_hash is ?6 and coalesce(expires_at, 9e15) > ?4`

export interface SharedSession {
  id: string
  variants: readonly string[]
  expires_at: number
  now: number
  slug: string
  password_hash: string | null
}
export const bindSharedSession = (
  d1: D1Database,
  { id, variants, expires_at, now, slug, password_hash }: SharedSession,
): D1PreparedStatement => d1.prepare(INSERT).bind(id, JSON.stringify(variants), expires_at, now, slug, password_hash)

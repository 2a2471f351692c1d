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

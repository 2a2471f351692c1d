import { columnsOf, selectOf } from '../query.ts'
import { embedRowsOf } from './embed_rows.ts'
import { FIRST, IS_NEXT } from './first_play_rows.ts'
import { ENDS_AT, HAS_NOT_ENDED } from './opened_rows.ts'
import { VIEW_COLUMNS, viewTables } from './play_rows.ts'
import { listsOf } from './session_list.ts'

/**
 * The statements for signed play sessions (docs/decisions/0125). They are those for rows, with a subquery instead of the table of sessions: it reads the
 * key or the share for which the session was signed, and takes the other values from the token. They are loaded with the first token.
 */

/** The row of the key or share, and the facts of the session that depend on it. `resource_id` is null if the key does not apply to the resource. */
export interface SignedRow {
  id: string
  organization_id: string
  scope: string
  resource_id: string | null
  /** The variants that the key allows; null for all, or for those that a share plays by default. */
  variants: string[] | null
  is_downloadable: boolean
  expires_at: number
  allowed_origins: string[] | null
  last_used_at: number | null
  /** The key of the organization's listeners; null if the token names no listener. */
  listener_key: string | null
  /** The slug of a share and the hash of its password; null for a key. */
  slug: string | null
  password_hash: string | null
}

/** Whether `POST /v1/play_session` would create a session for the resource with a key that is bound like this one. */
const IS_REACHABLE = `case :scope
  when 'track' then exists (select 1 from tracks join collections on collections.id = tracks.collection_id
    where tracks.id = :resource_id and tracks.organization_id = signer.organization_id
    and tracks.id = coalesce(signer.track_id, tracks.id) and collections.id = coalesce(signer.collection_id, collections.id)
    and (signer.playlist_id is null or exists (
      select 1 from playlist_tracks where track_id = tracks.id and playlist_id = signer.playlist_id)))
  when 'collection' then signer.track_id is null and signer.playlist_id is null and exists (select 1 from collections
    where id = :resource_id and organization_id = signer.organization_id and id = coalesce(signer.collection_id, id))
  else signer.track_id is null and signer.collection_id is null and exists (select 1 from playlists
    where id = :resource_id and organization_id = signer.organization_id and id = coalesce(signer.playlist_id, id))
end`

/**
 * Returns a subquery with one row if a row of `signers` is found, otherwise with none. The limit keeps SQLite from evaluating the columns wherever they
 * are used. `others` is the SQL of the last columns.
 */
const signedBy = (signers: string, others: string) =>
  `(select id, organization_id, :scope as scope, iif(${IS_REACHABLE}, :resource_id, null) as resource_id, variants,
    :is_downloadable and is_downloadable as is_downloadable, ${ENDS_AT}, allowed_origins, ${others}
  from ${signers} and ${HAS_NOT_ENDED} limit 1)`

/** The signing key, if the secret of the token is valid. */
const KEY = signedBy(
  `api_keys as signer where id = :signer_id and type = 'signing'
    and (hash = :hash or previous_hash = :hash and previous_expires_at > :now)`,
  `last_used_at, iif(:has_listener, (select listener_key from organizations where id = signer.organization_id), null)
    as listener_key, null as slug, null as password_hash`,
)

/** A share, which is bound to its resource. Whether its address and its password are those of the token is checked with `slug` and `password_hash`. */
const SHARE = signedBy(
  `(select *, iif(scope = 'track', resource_id, null) as track_id, iif(scope = 'collection', resource_id, null) as collection_id,
    iif(scope = 'playlist', resource_id, null) as playlist_id from shares) as signer where id = :signer_id`,
  'null as last_used_at, null as listener_key, slug, password_hash',
)

const session = columnsOf<SignedRow>('sessions')({
  id: 'plain',
  organization_id: 'plain',
  scope: 'plain',
  resource_id: 'plain',
  variants: 'json',
  is_downloadable: 'flag',
  expires_at: 'plain',
  allowed_origins: 'json',
  last_used_at: 'plain',
  listener_key: 'plain',
  slug: 'plain',
  password_hash: 'plain',
})
const select = selectOf({ session, ...VIEW_COLUMNS })

/** Returns the statements for a source. Each has the parameters of its counterpart, except those that find a row, and those of the token. */
function statementsOf(signed: string) {
  const viewsOf = (isTrack: string) => select(viewTables(isTrack, signed))
  const source = { name: 'signed', from: `${signed} as signed`, condition: 'true' }
  return {
    track: viewsOf('= :track_id'),
    first: viewsOf(`= ${FIRST}`),
    next: viewsOf(IS_NEXT),
    embed: embedRowsOf(source, {
      allowed_origins: 'signed.allowed_origins',
      slug: 'signed.slug',
      password_hash: 'signed.password_hash',
    }),
    lists: listsOf(source),
  }
}

/** The statements for tokens of signing keys, and for those of shares. */
export const signedRows = { key: statementsOf(KEY), share: statementsOf(SHARE) }
export type SignedViewRow = NonNullable<Awaited<ReturnType<(typeof signedRows.key.track)['get']>>>

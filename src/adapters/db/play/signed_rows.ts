import { columnsOf, selectOf } from '../query.ts'
import { embedRowsOf } from './embed_rows.ts'
import { FIRST, IS_NEXT } from './first_play_rows.ts'
import { VIEW_COLUMNS, viewTables } from './play_rows.ts'
import { listsOf } from './session_list.ts'

/**
 * The statements for signed play sessions (docs/decisions/0125). They are those for rows, with a subquery instead of the table of sessions: it reads the
 * key that has signed the session, and takes the other values from the token. They are loaded with the first token.
 */

/** The row of the key, and the facts of the session that depend on it. `resource_id` is null if the key does not apply to the resource. */
export interface SignedRow {
  id: string
  organization_id: string
  scope: string
  resource_id: string | null
  /** The variants that the key allows; null for all. */
  variants: string[] | null
  is_downloadable: boolean
  expires_at: number
  allowed_origins: string[] | null
  last_used_at: number | null
  /** The key of the organization's listeners; null if the token names no listener. */
  listener_key: string | null
}

/** Whether `POST /v1/play_session` would create a session for the resource with a player key that is bound like this key. */
const IS_REACHABLE = `case :scope
  when 'track' then exists (select 1 from tracks join collections on collections.id = tracks.collection_id
    where tracks.id = :resource_id and tracks.organization_id = api_keys.organization_id
    and tracks.id = coalesce(api_keys.track_id, tracks.id) and collections.id = coalesce(api_keys.collection_id, collections.id)
    and (api_keys.playlist_id is null or exists (
      select 1 from playlist_tracks where track_id = tracks.id and playlist_id = api_keys.playlist_id)))
  when 'collection' then api_keys.track_id is null and api_keys.playlist_id is null and exists (select 1 from collections
    where id = :resource_id and organization_id = api_keys.organization_id and id = coalesce(api_keys.collection_id, id))
  else api_keys.track_id is null and api_keys.collection_id is null and exists (select 1 from playlists
    where id = :resource_id and organization_id = api_keys.organization_id and id = coalesce(api_keys.playlist_id, id))
end`

/** One row if the secret of the token is valid, otherwise none. The limit keeps SQLite from evaluating the columns wherever they are used. */
const SIGNED = `(select id, organization_id, :scope as scope, iif(${IS_REACHABLE}, :resource_id, null) as resource_id, variants,
    :is_downloadable and is_downloadable as is_downloadable,
    min(:expires_at, coalesce(expires_at / 1000 * 1000, :expires_at)) as expires_at, allowed_origins, last_used_at,
    iif(:has_listener, (select listener_key from organizations where id = api_keys.organization_id), null) as listener_key
  from api_keys where id = :key_id and type = 'signing' and coalesce(expires_at, 9e15) > :now
    and (hash = :hash or previous_hash = :hash and previous_expires_at > :now) limit 1)`

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
})
const select = selectOf({ session, ...VIEW_COLUMNS })
const viewsOf = (isTrack: string) => select(viewTables(isTrack, SIGNED))

/** Each statement has the parameters of its counterpart, except those that find a row, and those of the token. */
export const signedRows = {
  track: viewsOf('= :track_id'),
  first: viewsOf(`= ${FIRST}`),
  next: viewsOf(IS_NEXT),
  embed: embedRowsOf({ name: 'signed', from: `${SIGNED} as signed`, condition: 'true' }, 'signed.allowed_origins'),
  lists: listsOf({ name: 'signed', from: `${SIGNED} as signed`, condition: 'true' }),
}
export type SignedViewRow = NonNullable<Awaited<ReturnType<(typeof signedRows.track)['get']>>>

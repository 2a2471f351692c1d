import { columnsOf, selectOf } from '../query.ts'
import type { ShareRow } from '../schema/shares.ts'
import { FIRST } from './first_play_rows.ts'
import { VIEW_COLUMNS, viewTables } from './play_rows.ts'

/** When a signed session ends, in SQL: with its key or share, at a whole second. */
export const ENDS_AT = 'min(:expires_at, coalesce(expires_at / 1000 * 1000, :expires_at)) as expires_at'
export const HAS_NOT_ENDED = 'coalesce(expires_at, 9e15) > :now'

/** A share that a visitor opens by its address and, if it has one, its password. */
const OPENED = `(select id, organization_id, scope, resource_id, variants, is_downloadable, ${ENDS_AT}, slug, password_hash
  from shares where slug = :slug and password_hash is :password_hash and ${HAS_NOT_ENDED} limit 1)`

const session = columnsOf<Omit<ShareRow, 'expires_at'> & { expires_at: number }>('sessions')({
  id: 'plain',
  organization_id: 'plain',
  scope: 'plain',
  resource_id: 'plain',
  variants: 'json',
  is_downloadable: 'flag',
  expires_at: 'plain',
  slug: 'plain',
  password_hash: 'plain',
})

/**
 * Selects the first play view of a share that a visitor opens, for a new session. A new isolate loads it with the first page of a share. Parameters: `slug`,
 * `password_hash`, `now` and `expires_at`.
 */
export const openedRows = selectOf({ session, ...VIEW_COLUMNS })(viewTables(`= ${FIRST}`, OPENED))

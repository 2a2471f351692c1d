import type { KeyType } from '../contract/api_key.ts'
import type { Effect } from '../contract/effect.ts'
import type { PlayScope } from '../contract/play.ts'

/** An API key of an organization, with the permissions that it grants (specification §5). */
export interface KeyHolder {
  kind: KeyType
  organization_id: string
  api_key_id: string
  /** The rights of a server key; null for all, and for keys of other types. */
  may: readonly Effect[] | null
  /** The resource to which a player or uploader key is limited; null if the key applies to the whole organization. */
  binding: { scope: PlayScope; id: string } | null
  /** Variants that a player key may play; null if it may play all. */
  variants: string[] | null
  is_downloadable: boolean
  /** Accepted values of the `Origin` header; null if all are accepted. */
  allowed_origins: string[] | null
  /** Whether the organization had webhook subscribers when the key was read (docs/decisions/0057). */
  has_subscribers?: boolean
  /** Only set for the key of a share: it is valid while the share has this address and password. */
  share?: { slug: string; password_hash: string | null }
}

/** The key of a share. `api_key_id` is the id of the share. */
export type ShareHolder = KeyHolder & Required<Pick<KeyHolder, 'share'>>
export const isShare = (holder: KeyHolder | null): holder is ShareHolder => holder?.share !== undefined

/** The caller. Neither the operator nor a caller without a key belongs to an organization. */
export type Principal =
  | KeyHolder
  | { kind: 'root'; organization_id: string; api_key_id: string }
  /** A caller without a key: the secret is the id of the play session in the path. */
  | { kind: 'public'; organization_id: string }

/** Returns the caller's key; null for a caller without a key. */
export const keyOf = (principal: Principal): KeyHolder | null =>
  principal.kind === 'root' || principal.kind === 'public' ? null : principal

export const ROOT: Principal = { kind: 'root', organization_id: '', api_key_id: 'root' }
export const LISTENER: Principal = { kind: 'public', organization_id: '' }

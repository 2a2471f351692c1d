import type { KeyType } from '../contract/api_key.ts'
import type { PlayScope } from '../contract/play.ts'

/** An API key of an organization (specification §5). */
export interface KeyHolder {
  kind: KeyType
  organization_id: string
  api_key_id: string
  /** The resource that a player or uploader key is bound to; null for the whole organization. */
  binding: { scope: PlayScope; id: string } | null
  /** Variants that a player key may play; null for all. */
  variants: string[] | null
  is_downloadable: boolean
  /** Accepted values of the `Origin` header; null for all. */
  allowed_origins: string[] | null
  /** Whether the organization had webhook subscribers when the key was read (docs/decisions/0057). */
  has_subscribers?: boolean
  /**
   * For a key of a share's page. Its sessions are short and end no later than the share (`ends_at`, milliseconds since 1970). They are created only
   * while the share keeps this slug and password.
   */
  share?: { slug: string; password_hash: string | null; ends_at: number | null }
}

/** The caller. The operator and a caller without a key belong to no organization. */
export type Principal =
  | KeyHolder
  | { kind: 'root'; organization_id: string; api_key_id: string }
  /** The play session's id in the path is the secret. */
  | { kind: 'public'; organization_id: string }

/** The caller's key, if any. */
export const keyOf = (principal: Principal): KeyHolder | null =>
  principal.kind === 'root' || principal.kind === 'public' ? null : principal

export const ROOT: Principal = { kind: 'root', organization_id: '', api_key_id: 'root' }
export const LISTENER: Principal = { kind: 'public', organization_id: '' }

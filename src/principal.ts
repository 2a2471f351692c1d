import type { KeyType } from './contract/api_key.ts'
import type { PlayScope } from './contract/play.ts'

/** An API key of an organization (specification §5). */
export interface KeyHolder {
  kind: KeyType
  organization_id: string
  api_key_id: string
  /** The resource that a player or uploader key is bound to; null: all of the organization. */
  binding: { scope: PlayScope; id: string } | null
  /** Variants that a player key may play; null: any. */
  variants: string[] | null
  is_downloadable: boolean
  /** Values of the `Origin` header that are let in; null: any. */
  allowed_origins: string[] | null
  /** Whether somebody listens to the events of its organization, as far as is known (docs/decisions/0057). */
  has_webhooks?: boolean
  /**
   * Of a share's page: its sessions are short, end no later than the share, in milliseconds since 1970, and are made only while the share has
   * this address and this password.
   */
  share?: { slug: string; password_hash: string | null; ends_at: number | null }
}

/** Who is calling. Neither the operator nor somebody without a key belongs to an organization. */
export type Principal =
  | KeyHolder
  | { kind: 'root'; organization_id: string; api_key_id: string }
  /** The play session's id in the path is the secret. */
  | { kind: 'public'; organization_id: string }

/** The key of a caller who has one. */
export const keyOf = (principal: Principal): KeyHolder | null =>
  principal.kind === 'root' || principal.kind === 'public' ? null : principal

export const ROOT: Principal = { kind: 'root', organization_id: '', api_key_id: 'root' }
export const LISTENER: Principal = { kind: 'public', organization_id: '' }

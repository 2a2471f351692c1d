import { and, eq, sql } from 'drizzle-orm'

import { prepareOnce } from '../../adapters/db/database.ts'
import { batch } from '../../adapters/db/query.ts'
import { tracks } from '../../adapters/db/schema/library.ts'
import type { Context } from '../../context.ts'
import type { KeyType } from '../../contract/api_key.ts'
import { PlayScope } from '../../contract/play.ts'
import { ApiError, invalid } from '../../core/errors.ts'
import { keyOf, type Principal } from '../../core/principal.ts'
import { findCollection } from '../library/collection.ts'
import { findPlaylist } from '../library/playlist.ts'
import { findTrack } from '../library/track.ts'
import { checkVariants } from '../library/variant.ts'
import { defaultVariants } from './default_variants.ts'

/** Determines what a caller may access within its organization, depending on its key. */

/** Functions that return a resource, or throw 404 if it does not exist in the caller's organization. */
export const FIND_RESOURCE = { collection: findCollection, track: findTrack, playlist: findPlaylist }

/** Whether a track is in the collection `:collection` and in the playlist `:playlist`. A parameter that is null is not checked. */
export const inScope = sql`(${sql.placeholder('collection')} is null or tracks.collection_id = ${sql.placeholder('collection')})
  and (${sql.placeholder('playlist')} is null or exists (
    select 1 from playlist_tracks where track_id = tracks.id and playlist_id = ${sql.placeholder('playlist')}))`

/**
 * Returns the collection or playlist that must contain a track so that the caller's key, which is bound to one resource, applies to the track. Both
 * fields are null if the key applies anyway. Returns null when the key does not apply to the resource.
 */
export function bindingScope(principal: Principal, scope: PlayScope, id: string) {
  const binding = keyOf(principal)?.binding
  const anything = { collection: null, playlist: null }
  if (!binding || (binding.scope === scope && binding.id === id)) return anything
  if (scope !== 'track' || binding.scope === 'track') return null
  return { ...anything, [binding.scope]: binding.id }
}

const trackWithin = prepareOnce((db) =>
  db
    .select({ id: tracks.id })
    .from(tracks)
    .where(and(eq(tracks.id, sql.placeholder('id')), inScope)),
)

/** Whether the caller's key applies to a resource: the key is bound to this resource, to a collection or playlist that contains it, or to none. */
export async function mayReach({ db, principal }: Context, scope: PlayScope, id: string): Promise<boolean> {
  const bound = bindingScope(principal, scope, id)
  if (!bound || Object.values(bound).every((owner) => owner === null)) return bound !== null
  const [rows] = await batch(db, [trackWithin(db, { id, ...bound })])
  return rows!.length > 0
}

/** Whether a key may create sessions that allow downloads. A server key always may. */
export const mayDownload = (principal: Principal) =>
  principal.kind === 'server' || keyOf(principal)?.is_downloadable === true

/** Returns the variants that a session plays. Throws for unknown variants and for variants that a player key does not allow. */
export async function chosenVariants(context: Context, variants: string[] = []): Promise<string[]> {
  const { principal } = context
  const granted = keyOf(principal)?.variants
  await checkVariants(context, variants)
  for (const index of variants) {
    // A player key must list the uploaded file explicitly, because browsers receive this key.
    const allowed = granted ?? (principal.kind === 'player' && index === 'original' ? [] : null)
    if (allowed && !allowed.includes(index)) {
      throw new ApiError('insufficient_scope', `This API key may not play the variant ${index}`)
    }
  }
  return variants.length > 0 ? [...new Set(variants)] : defaultVariants(granted ?? null)
}

/**
 * Checks the resource to which a new key is bound: a player or signing key accepts at most one resource of any kind, an uploader key at most one
 * collection, and a server key none.
 */
export async function checkBinding(
  context: Context,
  type: KeyType,
  body: Partial<Record<`${PlayScope}_id`, string | null>>,
): Promise<void> {
  const bound = PlayScope.options.flatMap((scope) => {
    const field = `${scope}_id` as const
    const id = body[field]
    return id ? [{ scope, field, id }] : []
  })
  const allowed = type === 'server' ? 0 : 1
  const [first] = bound
  if (bound.length > allowed)
    throw invalid(bound[allowed]!.field, `cannot be set for this ${type} key: it takes ${allowed || 'no'} resource`)
  if (!first) return
  if (type === 'uploader' && first.scope !== 'collection')
    throw invalid(first.field, 'cannot be set for an uploader key; bind it to a collection')
  await FIND_RESOURCE[first.scope](context, first.id)
}

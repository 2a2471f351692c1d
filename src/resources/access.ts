import { and, eq, sql } from 'drizzle-orm'

import { written } from '../adapters/database.ts'
import { tracks } from '../adapters/schema.ts'
import { batch } from '../adapters/statement.ts'
import type { Context } from '../context.ts'
import type { KeyType } from '../contract/api_key.ts'
import { CATALOGUE } from '../contract/catalogue.ts'
import { PlayScope } from '../contract/play.ts'
import { ApiError, invalid } from '../errors.ts'
import { keyOf, type Principal } from '../principal.ts'
import { findCollection } from './collection.ts'
import { findPlaylist } from './playlist.ts'
import { findTrack } from './track.ts'
import { checkVariants } from './variant.ts'

/** What a caller may reach within the organization, as the key says. */

/** 404 for what does not exist, or not in the caller's organization. */
export const FIND = { collection: findCollection, track: findTrack, playlist: findPlaylist }

/** Whether a track (`collection`, `playlist`) lies in both; null is any. */
export const within = sql`(${sql.placeholder('collection')} is null or tracks.collection_id = ${sql.placeholder('collection')})
  and (${sql.placeholder('playlist')} is null or exists (
    select 1 from playlist_tracks where track_id = tracks.id and playlist_id = ${sql.placeholder('playlist')}))`

/** What a track must lie in besides, to lie in what the caller's key is bound to; null when nothing of this scope does. */
export function boundTo(principal: Principal, scope: PlayScope, id: string) {
  const binding = keyOf(principal)?.binding
  const anything = { collection: null, playlist: null }
  if (!binding || (binding.scope === scope && binding.id === id)) return anything
  if (scope !== 'track' || binding.scope === 'track') return null
  return { ...anything, [binding.scope]: binding.id }
}

const trackWithin = written((db) =>
  db
    .select({ id: tracks.id })
    .from(tracks)
    .where(and(eq(tracks.id, sql.placeholder('id')), within)),
)

/** Whether a resource is, or lies in, the one that the caller's key is bound to. */
export async function mayReach({ db, principal }: Context, scope: PlayScope, id: string): Promise<boolean> {
  const bound = boundTo(principal, scope, id)
  if (!bound || Object.values(bound).every((owner) => owner === null)) return bound !== null
  const [rows] = await batch(db, [trackWithin(db, { id, ...bound })])
  return rows!.length > 0
}

/** Whether the sessions that are made with a key may be downloadable: a server key's always. */
export const mayDownload = (principal: Principal) =>
  principal.kind === 'server' || keyOf(principal)?.is_downloadable === true

/** The default transcodes, AAC first: what a session plays when its creator chose nothing (docs/decisions/0019). */
export const DEFAULT_VARIANTS = CATALOGUE.filter((v) => v.type === 'transcode').map((v) => v.index)

/** What the session plays: known variants, and of those only what a player key allows. */
export async function chosenVariants(context: Context, variants: string[] = []): Promise<string[]> {
  const { principal } = context
  const granted = keyOf(principal)?.variants
  await checkVariants(context, variants)
  for (const index of variants) {
    // The uploaded file itself is played by browsers only where their key names it.
    const allowed = granted ?? (principal.kind === 'player' && index === 'original' ? [] : null)
    if (allowed && !allowed.includes(index)) {
      throw new ApiError('insufficient_scope', `This API key may not play the variant ${index}`)
    }
  }
  if (variants.length > 0) return [...new Set(variants)]
  if (!granted) return DEFAULT_VARIANTS
  const usual = DEFAULT_VARIANTS.filter((index) => granted.includes(index))
  return usual.length > 0 ? usual : granted
}

/** A player key may be bound to one resource, an uploader key to a collection, a server key to none. */
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
  await FIND[first.scope](context, first.id)
}

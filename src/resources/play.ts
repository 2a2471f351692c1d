import { and, eq } from 'drizzle-orm'

import { isNewId, newId } from '../adapters/id.ts'
import { attachment } from '../adapters/media.ts'
import { viewSigner } from '../adapters/presign.ts'
import { playlistTracks, playSessions, tracks } from '../adapters/schema.ts'
import type { Context, Handlers } from '../context.ts'
import { CATALOGUE } from '../contract/catalogue.ts'
import { PLAY_REUSE } from '../contract/common.ts'
import type { playOperations, PlayScope } from '../contract/play.ts'
import { ApiError, invalid, notFound } from '../errors.ts'
import { findCollection } from './collection.ts'
import { findPlayback, notReady, playback } from './playback.ts'
import { findPlaylist } from './playlist.ts'
import { checkExpiry, timestamp } from './session.ts'
import { sessionView } from './session_view.ts'
import { findTrack } from './track.ts'
import { checkVariants } from './variant.ts'

/** The default transcodes, AAC first: what a session plays when its creator chose nothing (docs/decisions/0019). */
const DEFAULT_VARIANTS = CATALOGUE.filter((v) => v.type === 'transcode').map((v) => v.index)

/** What the session plays: known variants, and of those only what a player key allows. */
async function chosenVariants(context: Context, variants: string[] = []): Promise<string[]> {
  const { principal } = context
  await checkVariants(context, variants)
  for (const index of variants) {
    // The uploaded file itself is played by browsers only where their key names it.
    const allowed = principal.variants ?? (principal.kind === 'player' && index === 'original' ? [] : null)
    if (allowed && !allowed.includes(index)) {
      throw new ApiError('insufficient_scope', `This API key may not play the variant ${index}`)
    }
  }
  if (variants.length > 0) return [...new Set(variants)]
  const { variants: allowed } = principal
  if (!allowed) return DEFAULT_VARIANTS
  const usual = DEFAULT_VARIANTS.filter((index) => allowed.includes(index))
  return usual.length > 0 ? usual : allowed
}

/** The id of what is to be played, which must exist, be the caller's, and lie inside what its key is bound to. */
async function findResource(context: Context, scope: PlayScope, body: Record<`${PlayScope}_id`, string | undefined>) {
  const path = `${scope}_id` as const
  const id = body[path]
  if (!id) throw invalid(path, `is required when the scope is ${scope}`)
  if (scope === 'collection') await findCollection(context, id)
  else if (scope === 'track') await findTrack(context, id)
  else await findPlaylist(context, id)
  if (!(await inBinding(context, scope, id))) throw notFound(scope)
  return id
}

/** Whether a resource is, or lies in, the one that the caller's key is bound to. */
async function inBinding({ db, principal }: Context, scope: PlayScope, id: string): Promise<boolean> {
  const { binding } = principal
  if (!binding || (binding.scope === scope && binding.id === id)) return true
  if (scope !== 'track' || binding.scope === 'track') return false
  const found =
    binding.scope === 'collection'
      ? await db
          .select({ id: tracks.id })
          .from(tracks)
          .where(and(eq(tracks.id, id), eq(tracks.collection_id, binding.id)))
          .get()
      : await db
          .select({ id: playlistTracks.id })
          .from(playlistTracks)
          .where(and(eq(playlistTracks.track_id, id), eq(playlistTracks.playlist_id, binding.id)))
          .limit(1)
          .get()
  return found !== undefined
}

export const playHandlers: Handlers<typeof playOperations> = {
  async createPlaySession({ params, body }, context) {
    const { variants, collection_id, track_id, playlist_id, is_downloadable = false, expires_in, ...rest } = body
    const session = await context.db
      .insert(playSessions)
      .values({
        metadata: {},
        ...rest,
        variants: await chosenVariants(context, variants),
        resource_id: await findResource(context, params.scope, { collection_id, track_id, playlist_id }),
        id: newId(),
        organization_id: context.principal.organization_id,
        scope: params.scope,
        // Both the request and the key must say so; a server key always does.
        is_downloadable: is_downloadable && (context.principal.kind === 'server' || context.principal.is_downloadable),
        expires_at: context.now + Math.floor(expires_in) * 1000,
        created_at: context.now,
      })
      .returning()
      .get()
    return { ...(await sessionView(context, session)), expires_at: timestamp(session.expires_at) }
  },

  async getPlaySession({ params }, context) {
    const session = await context.db
      .select()
      .from(playSessions)
      .where(
        and(
          eq(playSessions.id, params.play_session_id),
          eq(playSessions.organization_id, context.principal.organization_id),
        ),
      )
      .get()
    if (session && !(await inBinding(context, session.scope, session.resource_id))) throw notFound('play session')
    return sessionView(context, checkExpiry('play session', session, context.now))
  },

  async playSession({ params }, context) {
    const { play_session_id } = params
    if (!isNewId(play_session_id)) throw notFound('play session')
    const row = await context.db.select().from(playSessions).where(eq(playSessions.id, play_session_id)).get()
    const session = checkExpiry('play session', row, context.now)
    // The id is the secret: whoever has it reads on behalf of the organization that gave it away.
    const principal = { ...context.principal, organization_id: session.organization_id }
    const view = await sessionView({ ...context, principal }, session)
    const until = Math.min(session.expires_at, context.now + PLAY_REUSE * 1000)
    // While nothing plays finally, a player looks again and again.
    if (view.first_track?.track.is_preliminary === false) context.mayReuse(session.organization_id, until)
    return view
  },

  async playTrack({ params }, context) {
    const found = await findPlayback(context, params.play_session_id, params.play_track_id)
    const { session, is_preliminary, until } = found
    if (!is_preliminary) context.mayReuse(session.organization_id, until)
    return {
      play_session_id: session.id,
      play_session: { ...session, expires_at: timestamp(session.expires_at) },
      ...(await playback(context, found)),
    }
  },

  async downloadTrack({ params }, context) {
    const { session, track, files, is_preliminary } = await findPlayback(
      context,
      params.play_session_id,
      params.play_track_id,
    )
    if (!session.is_downloadable) {
      throw new ApiError('download_not_allowed', 'This play session was created without is_downloadable')
    }
    // What is not finished is not given out as a file.
    if (is_preliminary) throw notReady(track.status)
    const file = files.find((f) => f.index === params.variant_index)
    if (!file) throw notFound('variant')
    const extension = /\.[a-z0-9]+$/.exec(file.path)?.[0]
    const name = file.index === 'original' ? track.file_name : `${track.file_name.replace(/\.[^.]*$/, '')}${extension}`
    const sign = await viewSigner(context.env, context.now, session.expires_at)
    const url = await sign(file.path, { 'response-content-disposition': attachment(name) })
    return { play_session_id: session.id, track_id: track.id, download: { variant: file.index, url } }
  },
}

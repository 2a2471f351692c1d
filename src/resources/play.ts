import { and, asc, eq, ne, or } from 'drizzle-orm'

import { newId } from '../adapters/id.ts'
import { attachment, signUrl } from '../adapters/media.ts'
import { collections, playSessions, tracks } from '../adapters/schema.ts'
import type { Context, Handlers } from '../context.ts'
import type { playOperations, PlayScope, PlaySession } from '../contract/play.ts'
import { CATALOGUE } from '../contract/variant.ts'
import { ApiError, invalid, notFound } from '../errors.ts'
import { appearance, type Appearances } from './appearance.ts'
import { findCollection } from './collection.ts'
import { findOrganization } from './organization.ts'
import { findPlayback, playback, playable } from './playback.ts'
import { checkExpiry, timestamp } from './session.ts'
import { findTrack, trackColumns } from './track.ts'

type Row = typeof playSessions.$inferSelect

/** Tracks that a session lists at most. */
const MAX_TRACKS = 1000

/** The transcodes, AAC first: what a session plays when its creator chose nothing. */
const DEFAULT_VARIANTS = CATALOGUE.filter((v) => v.type === 'transcode').map((v) => v.index)

function chosenVariants(variants: string[] = []): string[] {
  for (const [at, index] of variants.entries()) {
    if (!CATALOGUE.some((v) => v.index === index)) {
      const known = CATALOGUE.map((v) => v.index).join(', ')
      throw invalid(`variants.${at}`, `is not a known variant; known are ${known}`, 'unknown_variant')
    }
  }
  return variants.length > 0 ? [...new Set(variants)] : DEFAULT_VARIANTS
}

/** The id of what is to be played, which must exist and be the caller's. */
async function findResource(context: Context, scope: PlayScope, body: Record<`${PlayScope}_id`, string | undefined>) {
  const path = `${scope}_id` as const
  const id = body[path]
  if (!id) throw invalid(path, `is required when the scope is ${scope}`)
  if (scope === 'collection') await findCollection(context, id)
  else if (scope === 'track') await findTrack(context, id)
  else throw notFound('playlist')
  return id
}

const toPlaySession = (row: Row): PlaySession => ({
  ...row,
  organization_index: row.organization_index ?? '',
  expires_at: timestamp(row.expires_at),
})

/** The session's tracks as listeners see them, and the first that plays already. */
async function sessionView(context: Context, session: Row) {
  const organization = await findOrganization(context)
  const inScope =
    session.scope === 'track' ? eq(tracks.id, session.resource_id) : eq(tracks.collection_id, session.resource_id)
  const rows = await context.db
    .select({ track: trackColumns, collection: collections, playable: playable.as('playable') })
    .from(tracks)
    .innerJoin(collections, eq(collections.id, tracks.collection_id))
    .where(and(inScope, or(ne(tracks.status, 'failed'), playable)))
    .orderBy(asc(tracks.order), asc(tracks.id))
    .limit(MAX_TRACKS)
  const first = rows.find((row) => row.playable)
  return {
    play_session_id: session.id,
    play_session: toPlaySession(session),
    tracks: rows.map(({ track, collection }) => ({ ...track, ...seen({ track, collection, organization }) })),
    first_track: first ? await playback(context, await findPlayback(context, session.id, first.track.id)) : null,
  }
}

const seen = (levels: Appearances) => {
  const { player_title, player_subtitle, player_color } = appearance(levels)
  return { player_title, player_subtitle, player_color }
}

export const playHandlers: Handlers<typeof playOperations> = {
  async createPlaySession({ params, body }, context) {
    const { variants, collection_id, track_id, playlist_id, is_downloadable = false, expires_in, ...rest } = body
    const session = await context.db
      .insert(playSessions)
      .values({
        metadata: {},
        ...rest,
        variants: chosenVariants(variants),
        resource_id: await findResource(context, params.scope, { collection_id, track_id, playlist_id }),
        id: newId(),
        organization_id: context.principal.organization_id,
        scope: params.scope,
        is_downloadable,
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
    return sessionView(context, checkExpiry('play session', session, context.now))
  },

  async playTrack({ params }, context) {
    const found = await findPlayback(context, params.play_session_id, params.play_track_id)
    return {
      play_session_id: found.session.id,
      play_session: toPlaySession(found.session),
      ...(await playback(context, found)),
    }
  },

  async downloadTrack({ params }, context) {
    const { session, track, files, seconds_left } = await findPlayback(
      context,
      params.play_session_id,
      params.play_track_id,
    )
    if (!session.is_downloadable) {
      throw new ApiError(403, 'download_not_allowed', 'This play session was created without is_downloadable')
    }
    const file = files.find((f) => f.index === params.variant_index)
    if (!file) throw notFound('variant')
    const extension = /\.[a-z0-9]+$/.exec(file.path)?.[0]
    const name = file.index === 'original' ? track.file_name : `${track.file_name.replace(/\.[^.]*$/, '')}${extension}`
    const url = await signUrl(context.env, 'GET', file.path, {
      expires_in: seconds_left,
      query: { 'response-content-disposition': attachment(name) },
    })
    return { play_session_id: session.id, track_id: track.id, download: { variant: file.index, url } }
  },
}

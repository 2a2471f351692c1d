import { signUrl } from '../adapters/media.ts'
import { type PlayRow, playRows } from '../adapters/play_rows.ts'
import type { Context } from '../context.ts'
import { PLAYBACK_TTL } from '../contract/facts.ts'
import type { Playback } from '../contract/play.ts'
import { ApiError, notFound } from '../errors.ts'
import { appearance } from './appearance.ts'
import { coverImage } from './cover_image.ts'
import { allowsEarly, bestQuality } from './early.ts'
import { checkExpiry, playSessionsOf } from './session.ts'

interface File {
  index: string
  path: string
  bitrate: number
  is_early: 0 | 1
}

/** What a session plays of a track. Public: the two ids are the secret. */
export async function findPlayback(context: Context, session_id: string, track_id: string) {
  const { db, now } = context
  return playable(context, await playRows(playSessionsOf(session_id, now)).get(db, { session_id, track_id }))
}

/** The same of rows that are read already. */
export async function playable(context: Context, row: PlayRow | undefined) {
  const { now } = context
  const session = checkExpiry('play session', row?.session ?? undefined, now)
  if (!row?.track || !row.collection || !row.organization) throw notFound('track')
  const { track, collection, playlist, organization } = row
  const made = JSON.parse(track.files) as File[]
  const [file] = made
  if (!file) throw notReady(track.status)
  // An early file never stands beside others.
  const is_preliminary = file.is_early === 1
  if (is_preliminary && !allowsEarly(session, file, await bestQuality(context, session))) throw notReady(track.status)
  return {
    session,
    track,
    appearance: appearance({ track, collection, playlist, organization }),
    /** The session's variants that this track has, in the session's order; of a preliminary one, its early file. */
    files: is_preliminary ? made : session.variants.flatMap((index) => made.filter((file) => file.index === index)),
    is_preliminary,
    seconds_left: Math.min(PLAYBACK_TTL, Math.floor((session.expires_at - now) / 1000)),
  }
}

/** 409 for a track that does not play, or not yet. */
export const notReady = (status: string) =>
  new ApiError(
    'track_not_ready',
    status === 'failed'
      ? 'This track could not be processed and cannot be played'
      : `This track is still ${status}; try again soon`,
  )

/** Everything a player needs for one track. Signed URLs never outlive the session. */
export async function playback(context: Context, found: Awaited<ReturnType<typeof findPlayback>>): Promise<Playback> {
  const { track, is_preliminary, seconds_left } = found
  const { cover_path, ...look } = found.appearance
  const sign = (path: string) => signUrl(context.env, 'GET', path, { expires_in: seconds_left })
  return {
    track_id: track.id,
    cover_image: await coverImage(context, cover_path, seconds_left),
    track: { ...track, ...look, track_status_id: track.status, is_preliminary },
    levels: { levels: JSON.parse(track.levels) as number[] },
    variants: await Promise.all(
      found.files.map(async ({ index, path }) => ({ path, url: await sign(path), variant: { index } })),
    ),
  }
}

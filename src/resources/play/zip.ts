import { inArray } from 'drizzle-orm'

import { withoutBidiMarks } from '../../adapters/bucket/attachment.ts'
import { filesOf, type TrackFile } from '../../adapters/bucket/track_files.ts'
import { inJsonList } from '../../adapters/db/database.ts'
import type { PlayedSession } from '../../adapters/db/play/play_rows.ts'
import { tracks } from '../../adapters/db/schema/library.ts'
import type { Context, Downloaded } from '../../context.ts'
import { MAX_ZIP_BYTES, MAX_ZIP_FILES } from '../../contract/facts.ts'
import type { PlayScope } from '../../contract/play.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { toEmbed } from '../share/embed.ts'
import { findSession } from './playback.ts'
import { readList } from './session_view.ts'

/** A file in a ZIP. */
export interface ZipEntry {
  name: string
  path: string
  size: number
}

/** Characters that some operating systems do not allow in file names. */
// oxlint-disable-next-line no-control-regex -- control characters are
const FORBIDDEN = /[\u0000-\u001f\u007f\\/:*?"<>|]/g

/** Returns a text in the form of a file name without extension, short enough for every file system. */
export function fileName(text: string): string {
  const clean = withoutBidiMarks(text).normalize('NFC').toWellFormed().replace(FORBIDDEN, '_').trim()
  const { read } = new TextEncoder().encodeInto(clean, new Uint8Array(180))
  return clean.slice(0, read).replace(/[. ]+$/, '') || '_'
}

/** Returns the extension of a file; for the uploaded file, returns that of its original name. */
const endingOf = (file: TrackFile, file_name: string) =>
  /\.[a-z0-9]{1,8}$/i.exec(file.index === 'original' ? file_name : file.path)?.[0].toLowerCase() ?? ''

/**
 * Returns the files of tracks, each in the first variant of `order` that the track has. Throws for a track without any of these variants, because an
 * incomplete archive might go unnoticed for years.
 */
export async function findEntries(
  { db }: Context,
  listed: { id: string; file_name: string; player_title: string }[],
  order: readonly string[],
) {
  const tooLarge = () =>
    new ApiError('zip_too_large', `A ZIP takes at most ${MAX_ZIP_FILES} files and ${MAX_ZIP_BYTES} bytes`)
  if (listed.length > MAX_ZIP_FILES) throw tooLarge()
  const { id, organization_id, collection_id, folder_id, index, files } = tracks
  const found = await db
    .select({ id, organization_id, collection_id, folder_id, index, files })
    .from(tracks)
    .where(inArray(tracks.id, inJsonList([...new Set(listed.map(({ id }) => id))])))
  const filesById = new Map(found.map((track) => [track.id, filesOf(track).filter(({ is_early }) => is_early === 0)]))
  const digits = String(listed.length).length
  const entries = listed.flatMap(({ id, file_name, player_title }, at): ZipEntry[] => {
    const files = filesById.get(id) ?? []
    const file = order.flatMap((index) => files.filter((candidate) => candidate.index === index))[0]
    if (!file) return []
    const number = String(at + 1).padStart(Math.max(2, digits), '0')
    return [
      { name: `${number} ${fileName(player_title)}${endingOf(file, file_name)}`, path: file.path, size: file.size },
    ]
  })
  const size = entries.reduce((sum, entry) => sum + entry.size, 0)
  if (size > MAX_ZIP_BYTES) throw tooLarge()
  const lacking = listed.length - entries.length
  if (entries.length === 0) throw new ApiError('track_not_ready', 'Nothing of this can be downloaded yet')
  if (lacking > 0) {
    const message = `${lacking} of ${listed.length} tracks cannot be downloaded yet: none of the session's variants is made of them`
    throw new ApiError('track_not_ready', message)
  }
  return { entries, size }
}

/**
 * Returns the files of a downloadable session: each track in the `wanted` variant, or else in the first of the session's variants that the track has.
 * Throws when a track is not finished, because an incomplete archive might go unnoticed for years.
 */
export async function findZip(context: Context, play_session_id: string, wanted?: string) {
  const session = await findSession(context, play_session_id)
  if (!session.is_downloadable) {
    throw new ApiError(
      'download_not_allowed',
      'This play session was created without is_downloadable, or with a key that does not allow it',
    )
  }
  if (wanted !== undefined && !session.variants.includes(wanted)) throw notFound('variant')
  const order = [...(wanted === undefined ? [] : [wanted]), ...session.variants]
  const { row: owner, tracks: sessionTracks = [] } = await readList(context, play_session_id, MAX_ZIP_FILES + 1)
  const { title } = await toEmbed(context, owner)
  const { entries, size } = await findEntries(context, sessionTracks, order)
  return {
    file_name: `${fileName(title)}.zip`,
    variant: wanted ?? session.variants[0]!,
    entries,
    size,
    organization_id: session.organization_id,
    downloaded: downloadOf(session),
  }
}

/** Returns how the ZIP of a session is counted: once, and for the track only if the session plays one. */
function downloadOf({ organization_id, scope, resource_id: id, share_id: share }: PlayedSession): Downloaded {
  const own = (one: PlayScope) => (scope === one ? id : null)
  return { organization_id, track: own('track'), collection: own('collection'), via: { scope, id, share } }
}

import { filesOf, type TrackFile } from '../../adapters/bucket/track_files.ts'
import type { Client } from '../../adapters/db/query.ts'
import type { ShareRow } from '../../adapters/db/schema/shares.ts'
import { shareFileRows } from '../../adapters/db/share_file_rows.ts'
import { CODECS, DEFAULT_VARIANTS } from '../../contract/facts.ts'
import { ApiError, notFound, notReady } from '../../core/errors.ts'
import { toShare } from './share_view.ts'

/** Links to the files of a share: `/s/{slug}/{track id}.mp3`, and `/s/{slug}.mp3` for a share of a single track (docs/share.md#links-to-files). */

/** Seconds by which a preview is shorter than its track, at least. Encoders add less. */
const CUT = 0.5

/** The types of file links: the formats of the API. */
export type FileType = (typeof CODECS)[keyof typeof CODECS]['format']
const FORMATS = Object.values(CODECS)

/** Whether the files of a share have links: everyone who has a link can load the file, from any page. */
export const hasFileLinks = ({
  is_downloadable,
  password_hash,
  allowed_origins,
}: Pick<ShareRow, 'is_downloadable' | 'password_hash' | 'allowed_origins'>): boolean =>
  is_downloadable && password_hash === null && allowed_origins === null

/** Returns the files of each type, in the order of the variants of a share. The uploaded file has no type. */
function typesOf(files: TrackFile[], { variants }: Pick<ShareRow, 'variants'>): Map<FileType, TrackFile[]> {
  const allowed = (variants ?? DEFAULT_VARIANTS).flatMap((index) => files.filter((file) => file.index === index))
  const typed = FORMATS.map(({ format, extension }): [FileType, TrackFile[]] => [
    format,
    allowed.filter(({ path }) => path.endsWith(`.${extension}`)),
  ])
  return new Map(typed.filter(([, found]) => found.length > 0))
}

/**
 * Returns the best file of a type that a share allows: a whole track rather than a preview, then the one with the highest bitrate, then the first of the
 * share's variants. Undefined if the track has none.
 */
export function bestFile(files: TrackFile[], share: Pick<ShareRow, 'variants'>, type: FileType): TrackFile | undefined {
  const found = typesOf(files, share).get(type) ?? []
  const whole = Math.max(...found.map(({ duration }) => duration)) - CUT
  return found
    .filter(({ duration }) => duration > whole)
    .reduce<TrackFile | undefined>((best, file) => (best && best.bitrate >= file.bitrate ? best : file), undefined)
}

/**
 * Returns the file behind a link, with its share and its track. `track_id` is null for the link of a single track. Throws 404 and 410 like the page of the
 * share, 403 if it has no file links, 409 while the track has no final files, and 404 for another track or a type that it does not have.
 */
export async function findShareFile(
  db: Client,
  now: number,
  { slug, track_id, type }: { slug: string; track_id: string | null; type: FileType },
) {
  const row = await shareFileRows.get(db, { slug, track_id })
  const share = toShare(row, now)
  if (!hasFileLinks(share))
    throw new ApiError(
      'download_not_allowed',
      'Only a share with is_downloadable, without a password and without allowed_origins, has links to files',
    )
  if (track_id === null && share.scope !== 'track')
    throw new ApiError('not_found', `This share has several tracks: /s/${slug}/{track id}.${type} is the link of one`)
  const track = row?.track
  if (!track) throw notFound('track')
  const files = filesOf(track)
  if (files.length === 0 || files[0]!.is_early) throw notReady(track.status)
  const file = bestFile(files, share, type)
  if (!file) {
    const types = [...typesOf(files, share).keys()].join(', ')
    throw new ApiError('not_found', `This share has no ${type} of this track, only: ${types}`)
  }
  return { share, track, file }
}

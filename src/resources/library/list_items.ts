import { eq, getTableColumns, inArray, type SQL, sql } from 'drizzle-orm'

import { mediaUrls } from '../../adapters/bucket/media_url.ts'
import { filesOf, toTrackVariant } from '../../adapters/bucket/track_files.ts'
import { inJsonList, runBatch } from '../../adapters/db/database.ts'
import { CONTAINER } from '../../adapters/db/play/play_rows.ts'
import { collections, organizations, playlists, tracks } from '../../adapters/db/schema/library.ts'
import { LOUDNESS_SQL, STATE_SQL, unpackLoudness } from '../../adapters/db/track_info.ts'
import type { Context } from '../../context.ts'
import { PLAYBACK_TTL } from '../../contract/facts.ts'
import type { Loudness } from '../../contract/info.ts'
import type { TrackState } from '../../contract/track_list.ts'
import { effectiveCover, trackTitle } from './appearance.ts'
import { coverDesign, coverImage, coverOrFirst, type ShownCover } from './cover_image.ts'
import { firstLook, playlistLevels } from './first_look.ts'
import { organizationIn, organizationQuery } from './organization.ts'
import { times, versionOf } from './resource_fields.ts'

/** The columns of lists and the additional data that `include` asks for, so that a page needs only one request. */

/** The columns of a track, without `levels`, which only play views need, and without columns that are only read by a reprocess or the search. */
export type TrackRow = Omit<typeof tracks.$inferSelect, 'levels' | 'made_with' | 'folded'>
const { levels: _levels, made_with: _made_with, folded: _folded, ...withoutLevels } = getTableColumns(tracks)
export const trackColumns = withoutLevels

/** The columns that lists read: technical info and files are not among them. */
export type ListedRow = Omit<TrackRow, 'info' | 'files' | 'folder_id' | 'chapters' | 'edited_tags' | 'file_tags'>
const {
  info: _info,
  files: _files,
  folder_id: _folder_id,
  chapters: _chapters,
  edited_tags: _edited_tags,
  file_tags: _file_tags,
  ...listedColumns
} = withoutLevels

/** Returns a track with the title that was set for it. Only play views use the file name when no title is set. */
export const toListedTrack = (row: ListedRow) => ({
  ...row,
  ...times(row),
  version: versionOf(row),
  image_colors: row.cover_colors,
  track_status_id: row.status,
  tags: row.tags ?? {},
})

/** The value of `include` in a query. */
export type Include = readonly string[] | undefined
/** Whether a list's `include` has this name. */
export const isIncluded = (include: Include, name: string) => include?.includes(name) === true

/** Returns a function for the URLs of a cover's squares. */
export async function covers({ env, now, base_url }: Context) {
  const mediaUrl = await mediaUrls(env, now, now + PLAYBACK_TTL * 1000)
  return (cover: ShownCover) => coverImage(base_url, cover, mediaUrl)
}

/** Returns the query for the covers of collections, whose ids are a list in SQL. */
export function collectionCovers({ db }: Context, ids: SQL) {
  const { id, title, cover_path, cover_size, is_cover_overridable } = collections
  return db
    .select({ own: { id, title, cover_path, cover_size, is_cover_overridable }, first: firstLook.as('first') })
    .from(collections)
    .innerJoin(organizations, eq(organizations.id, collections.organization_id))
    .where(inArray(id, ids))
}

/**
 * Returns the covers of collections, with the designs that they have without one. If `borrows` is set, a collection without a cover has the cover of its
 * first track.
 */
export const toCollectionCovers = (rows: Awaited<ReturnType<typeof collectionCovers>>, borrows = true) =>
  new Map(
    rows.map(({ own, first }) => {
      const design = coverDesign(own.title, first?.levels)
      return [own.id, { ...coverOrFirst(own, borrows ? first : null), design }]
    }),
  )

/** Returns the query for the covers of playlists, whose ids are a list in SQL. */
export function playlistCovers({ db }: Context, ids: SQL) {
  const { id, title, cover_path } = playlists
  return db
    .select({ id, title, cover_path, levels: playlistLevels.as('levels') })
    .from(playlists)
    .where(inArray(id, ids))
}

/** Returns the covers of playlists, with the designs that they have without one. */
export const toPlaylistCovers = (rows: Awaited<ReturnType<typeof playlistCovers>>) =>
  new Map(rows.map(({ levels, ...row }) => [row.id, { ...row, design: coverDesign(row.title, levels) }]))

/** Returns the columns of a track that a list reads. */
export const columnsFor = (include: Include) => ({
  ...listedColumns,
  ...(isIncluded(include, 'levels') && { levels: tracks.levels }),
  ...(isIncluded(include, 'artwork') && {
    wave: sql<string | null>`iif(${tracks.cover_path} is null, hex(${tracks.levels}), null)`.as('wave'),
  }),
  ...(isIncluded(include, 'loudness') && {
    loudness: sql.raw(LOUDNESS_SQL).as('loudness') as SQL.Aliased<string | null>,
  }),
  ...(isIncluded(include, 'state') && { state: sql.raw(STATE_SQL).as('state') as SQL.Aliased<string> }),
  ...(isIncluded(include, 'variants') && {
    files: tracks.files,
    folder_id: tracks.folder_id,
    container: sql.raw(CONTAINER).as('container') as SQL.Aliased<string | null>,
  }),
})
type TrackListRow = ListedRow & {
  levels?: number[] | null
  /** The levels of a track without a cover in hexadecimal, for its generated cover. */
  wave?: string | null
  loudness?: string | null
  state?: string
  files?: TrackRow['files']
  folder_id?: string | null
  /** The format of the upload, as ffmpeg names it. */
  container?: string | null
}

/** Returns the files of a row whose columns `files` and `folder_id` were read. */
const variantsOf = ({ files = null, folder_id = null, container, ...row }: TrackListRow) =>
  filesOf({ ...row, files, folder_id }).map((file) => toTrackVariant(file, container))

/**
 * Returns tracks as lists show them. The cover of the playlist is used after the collection's own cover, but before one that the collection borrows
 * from its first track.
 */
export async function toTracks(
  context: Context,
  include: Include,
  rows: TrackListRow[],
  playlist: { cover_path: string | null } | null = null,
) {
  const hasArtwork = isIncluded(include, 'artwork')
  const collection_ids = inJsonList([...new Set(rows.map((row) => row.collection_id))])
  const { id, title } = collections
  const owners = context.db.select({ id, title }).from(collections).where(inArray(id, collection_ids))
  const organizationOf = organizationQuery(context)
  const coversOf = collectionCovers(context, collection_ids)
  const resultOf = await runBatch(context.db, [
    ...(isIncluded(include, 'collection') ? [owners] : []),
    ...(hasArtwork ? [organizationOf, coversOf] : []),
  ])
  const collectionById = isIncluded(include, 'collection')
    ? new Map(resultOf(owners).map((row) => [row.id, row]))
    : null
  const [hasIds, hasVariants] = [isIncluded(include, 'ids'), isIncluded(include, 'variants')]
  const shown = rows.map((row) => ({
    ...toListedTrack(row),
    creator_id: hasIds ? row.creator_id : undefined,
    organization_index: hasIds ? row.organization_index : undefined,
    variants: hasVariants ? variantsOf(row) : undefined,
    levels: row.levels === undefined ? undefined : { levels: row.levels ?? [] },
    loudness:
      typeof row.loudness === 'string'
        ? (unpackLoudness(JSON.parse(row.loudness) as unknown[]) as Loudness)
        : row.loudness,
    state:
      row.state === undefined
        ? undefined
        : { progress: row.progress ?? 0, ...(JSON.parse(row.state) as Omit<TrackState, 'progress'>) },
    collection: collectionById?.get(row.collection_id),
  }))
  if (!hasArtwork) return shown
  const organization = organizationIn(resultOf(organizationOf))
  const collectionCover = toCollectionCovers(resultOf(coversOf), !playlist?.cover_path)
  const cover = await covers(context)
  return Promise.all(
    shown.map(async (track, at) => ({
      ...track,
      artwork: await cover(
        trackCover(organization, collectionCover.get(track.collection_id), playlist, {
          ...track,
          levels: rows[at]!.wave,
        }),
      ),
    })),
  )
}

type Covers = Parameters<typeof effectiveCover>[0]
type DrawnTrack = Parameters<typeof trackTitle>[0] & { cover_path: string | null; levels?: string | null | undefined }

/** Returns the effective cover of a track, or else its own design in the color of its collection. */
export function trackCover(
  organization: Covers['organization'] & { uses_tags: boolean },
  collection: (Covers['collection'] & { title: string }) | undefined,
  playlist: Covers['playlist'],
  track: DrawnTrack,
): ShownCover {
  const noCover = { cover_path: null, is_cover_overridable: true }
  return {
    ...effectiveCover({ organization, collection: collection ?? noCover, playlist, track }),
    design: coverDesign(trackTitle(track, organization.uses_tags), track.levels, collection?.title),
  }
}

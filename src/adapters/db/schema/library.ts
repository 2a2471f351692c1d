import { sql } from 'drizzle-orm'
import { index, integer, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

import type { ImageColor } from '../../../contract/color.ts'
import { type AudioCodec, PROGRESS_DAYS } from '../../../contract/facts.ts'
import type { Episode } from '../../../contract/feed.ts'
import type { Tags } from '../../../contract/info.ts'
import type { TrackStatus } from '../../../contract/track.ts'
import type { StoredFiles } from '../../bucket/track_files.ts'
import { uploadPathSql } from '../../bucket/track_storage.ts'
import { created_at, type EditedTags, flag, folded, info, json, levels, updated_at } from '../column_types.ts'
import { quotaColumns, type StoredChapter } from '../column_types.ts'

/**
 * The tables of the API's resources. The names of columns are those of the API's fields. Times are in milliseconds since 1970.
 *
 * There are no foreign keys: drizzle-kit rebuilds tables by dropping them, and D1 ignores `PRAGMA foreign_keys=OFF`, so a cascade would delete the
 * rows that refer to the table (docs/architecture.md#d1). Instead, the code deletes a row and the rows that refer to it in the same batch.
 */

type Json = Record<string, unknown>
const quoted = (name: string) => `"${name}"`
/** The columns that determine how a resource looks to listeners. */
const appearanceColumns = () => ({
  player_color: text(),
  player_subtitle: text(),
  /** The storage prefix of the cover's square images; null if there is no cover. */
  cover_path: text(),
  cover_colors: json<ImageColor[]>().notNull(),
  /** Width and height of the large square image in pixels; null if there is no large image. */
  cover_size: integer(),
  /** The id of the newest cover job. Late results of older jobs are ignored. */
  cover_job_id: text(),
})

export const organizations = sqliteTable(
  'organizations',
  {
    id: text().primaryKey(),
    name: text().notNull(),
    theme: json<string[]>().notNull(),
    is_theme_overridable: flag().notNull().default(true),
    is_cover_overridable: flag().notNull().default(true),
    player_color: text(),
    player_subtitle: text(),
    /** Whether the tags of files are used for values that were not set. */
    uses_tags: flag().notNull().default(true),
    /** The number of Durable Objects that receive the organization's listening reports. It only grows. */
    listening_shards: integer().notNull().default(1),
    /** Days after which the progress of listeners ends (docs/counting.md#progress-of-a-listener). */
    progress_days: integer().notNull().default(PROGRESS_DAYS),
    /** The key of the HMACs of listeners: 64 hexadecimal digits; null before the first one. */
    listener_key: text(),
    ...quotaColumns(),
    seq: integer().notNull(),
    created_at: created_at(),
    updated_at: updated_at(),
  },
  (t) => [index('organizations_list').on(t.seq)],
)

export const collections = sqliteTable(
  'collections',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    creator_id: text(),
    organization_index: text(),
    title: text().notNull(),
    metadata: json<Json>().notNull(),
    theme: json<string[]>().notNull(),
    is_cover_overridable: flag().notNull().default(true),
    is_theme_overridable: flag().notNull().default(true),
    ...appearanceColumns(),
    /** Whether a request has ordered the tracks. The order then no longer follows the tags. */
    is_ordered: flag().notNull().default(false),
    seq: integer().notNull(),
    created_at: created_at(),
    updated_at: updated_at(),
    folded: folded(),
  },
  (t) => [
    index('collections_list').on(t.organization_id, t.seq),
    index('collections_creator')
      .on(t.organization_id, t.creator_id, t.seq)
      .where(sql`creator_id is not null`),
    index('collections_index')
      .on(t.organization_id, t.organization_index, t.seq)
      .where(sql`organization_index is not null`),
  ],
)

export const playlists = sqliteTable(
  'playlists',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    creator_id: text(),
    organization_index: text(),
    title: text().notNull(),
    metadata: json<Json>().notNull(),
    theme: json<string[]>().notNull(),
    ...appearanceColumns(),
    track_count: integer().notNull().default(0),
    /** Increases with every change to the tracks; requests can compare it with `If-Match`. */
    version: integer().notNull().default(1),
    /**
     * The id of the last change to the tracks. Later statements of the same change compare it, so that they take effect only if the first statement
     * did.
     */
    change_id: text(),
    seq: integer().notNull(),
    created_at: created_at(),
    updated_at: updated_at(),
    folded: folded(),
  },
  (t) => [
    index('playlists_list').on(t.organization_id, t.seq),
    index('playlists_creator')
      .on(t.organization_id, t.creator_id, t.seq)
      .where(sql`creator_id is not null`),
    index('playlists_index')
      .on(t.organization_id, t.organization_index, t.seq)
      .where(sql`organization_index is not null`),
    index('playlists_change')
      .on(t.change_id)
      .where(sql`change_id is not null`),
  ],
)

/**
 * The positions of tracks in playlists; a track can be in a playlist several times. If the playlist or the track is in the trash, the row's
 * `playlist_id` has a prefix (playlist_order.ts).
 */
export const playlistTracks = sqliteTable(
  'playlist_tracks',
  {
    id: text().primaryKey(),
    playlist_id: text().notNull(),
    track_id: text().notNull(),
    /** 0, 1, 2, … without gaps. Positions are fractions only while the tracks are being changed. */
    position: real().notNull(),
  },
  (t) => [
    index('playlist_tracks_list').on(t.playlist_id, t.position),
    index('playlist_tracks_track').on(t.track_id, t.playlist_id),
  ],
)

export const tracks = sqliteTable(
  'tracks',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    collection_id: text().notNull(),
    /** The collection whose folder holds the files, if the track has moved (docs/decisions/0001); null if it never moved. */
    folder_id: text(),
    upload_session_id: text(),
    creator_id: text(),
    index: text().notNull(),
    duration: real().notNull().default(0),
    file_name: text().notNull(),
    file_name_original: text(),
    organization_index: text(),
    order: integer().notNull(),
    metadata: json<Json>().notNull(),
    is_cover_overridable: flag().notNull().default(true),
    is_theme_overridable: flag().notNull().default(true),
    player_title: text(),
    ...appearanceColumns(),
    status: text().$type<TrackStatus>().notNull(),
    /** The fraction of the job that is done, 0–1; null if no job runs. */
    progress: real(),
    /** The job that currently determines the track's status. Late results of older jobs are ignored. */
    job_id: text(),
    /** The part of `source_path` that varies; null until an upload is accepted. */
    source_suffix: text(),
    source_size: integer(),
    /** The part of `upload_path` that varies. */
    upload_suffix: text().notNull().default(''),
    upload_expires_at: integer().notNull(),
    /** Whether an upload handle is open whose file was not accepted yet: the newest handle, or an older one that is newer than `source_path`. */
    awaiting_upload: flag().notNull(),
    /** When the sweep next checks whether a file was uploaded. */
    next_check_at: integer().notNull(),
    created_at: created_at(),
    updated_at: updated_at(),
    info: info().notNull(),
    /** The tags of the file that was processed last, with the values that people have set; null before a file is processed or a value is set. */
    tags: json<Tags>(),
    folded: folded(),
    /**
     * The hashes (`settingsOf`) of the variants that the last job generated, or skipped because they do not apply to the source; null until a job has
     * ended.
     */
    made_with: text(),
    files: json<StoredFiles>(),
    /** Null until a job has ended. Only columns that lists do not read are stored after it. */
    levels: levels(),
    /** The tags that people have set, by name. A null value hides the tag of the file. The column is null if no tag is set. */
    edited_tags: json<EditedTags>(),
    /** The tags of the file alone, if people have set others. */
    file_tags: json<Tags>(),
    /** The chapters that a person has set, which replace those of the file. */
    chapters: json<StoredChapter[]>(),
    /** Facts that only podcast feeds show; null if nothing was set. Lists read the column too, but few tracks have a value. */
    episode: json<Episode>(),
    /** The path of the upload that is being processed or was processed last, which is the variant `original`. */
    source_path: text().generatedAlwaysAs(sql.raw(`${uploadPathSql(quoted)} || source_suffix`)),
    /** The path of the newest upload handle. If the track has had others, each has a row in `upload_handles`. */
    upload_path: text()
      .notNull()
      .generatedAlwaysAs(sql.raw(`${uploadPathSql(quoted)} || upload_suffix`)),
  },
  (t) => [
    index('tracks_list').on(t.collection_id, t.order, t.id),
    // This order never changes, so jobs can process the tracks of a collection in it.
    index('tracks_walk').on(t.collection_id, t.id),
    index('tracks_status').on(t.collection_id, t.status, t.order),
    index('tracks_creator')
      .on(t.collection_id, t.creator_id, t.order)
      .where(sql`creator_id is not null`),
    index('tracks_index')
      .on(t.collection_id, t.organization_index, t.order)
      .where(sql`organization_index is not null`),
    index('tracks_created').on(t.organization_id, t.created_at),
    index('tracks_duration')
      .on(t.organization_id, t.duration)
      .where(sql`duration > 0`),
    index('tracks_failed')
      .on(t.organization_id, t.created_at)
      .where(sql`status in ('failed', 'incomplete')`),
    index('tracks_folder')
      .on(t.folder_id, t.id)
      .where(sql`folder_id is not null`),
    index('tracks_waiting')
      .on(t.next_check_at)
      .where(sql`awaiting_upload = 1`),
  ],
)

/** The variants that organizations have defined in addition to the catalog. */
export const variants = sqliteTable(
  'variants',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    index: text().notNull(),
    name: text().notNull(),
    type: text().$type<'transcode' | 'preview'>().notNull(),
    codec: text().$type<AudioCodec>().notNull(),
    /** Bitrate in kbit/s; 0 for FLAC. */
    bitrate: integer().notNull(),
    channels: integer(),
    /** Start and length in seconds; only for previews. */
    start: real(),
    length: real(),
    seq: integer().notNull(),
    created_at: created_at(),
  },
  (t) => [
    uniqueIndex('variants_index').on(t.organization_id, t.index),
    index('variants_list').on(t.organization_id, t.seq),
  ],
)

export const uploadSessions = sqliteTable(
  'upload_sessions',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(),
    collection_id: text().notNull(),
    creator_id: text(),
    organization_index: text(),
    metadata: json<Json>().notNull(),
    expires_at: integer().notNull(),
    created_at: created_at(),
    /** The uploader key that created the session; null for a server key. */
    api_key_id: text(),
    max_bytes: integer(),
    max_tracks: integer(),
  },
  (t) => [index('upload_sessions_expiry').on(t.expires_at), index('upload_sessions_collection').on(t.collection_id)],
)

/** The tables of the resources that can be played, shared and deleted. */
export const TABLE_OF = { track: tracks, collection: collections, playlist: playlists }

/** Whether a track's collection exists. The tracks of a deleted collection disappear immediately, although their rows are deleted later. */
export const isInCollection = sql`exists (select 1 from collections where collections.id = tracks.collection_id)`

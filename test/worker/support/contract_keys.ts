/** The keys of responses: those of the specification (§2), and those that we added. */

export const ENVELOPE = 'ok api_request_id'
export const ORGANIZATION =
  'id name image_colors theme is_theme_overridable is_cover_overridable player_color player_subtitle uses_tags progress_days max_bytes version'
export const COLLECTION =
  'created_at updated_at version id creator_id organization_index title metadata image_colors theme is_cover_overridable is_theme_overridable player_color player_subtitle'
const PLAYED_TRACK =
  'id organization_id collection_id index duration file_name order metadata is_cover_overridable is_theme_overridable player_title player_subtitle player_color image_colors track_status_id status tags'
export const LISTED_TRACK = `${PLAYED_TRACK} created_at updated_at version episode`
export const TRACK = `${LISTED_TRACK} file_tags edited_tags chapters creator_id file_name_original info organization_index`
export const UPLOAD_HANDLE = 'method upload_url ttl expires_at'
const PLAY_SESSION = 'id creator_id organization_index metadata variants is_downloadable expires_at'
export const PLAYLIST =
  'created_at updated_at id creator_id organization_index title metadata image_colors theme player_color player_subtitle track_count version'
export const API_KEY =
  'id organization_id title type may hint collection_id track_id playlist_id variants is_downloadable allowed_origins max_bytes max_tracks expires_at created_at last_used_at'
export const USAGE = {
  '': `${ENVELOPE} usage quota`,
  usage: 'tracks duration bytes variants days',
  quota: 'max_bytes used_bytes',
}
export const COUNTS = 'plays visits seconds completions downloads muted_seconds fast_seconds'
export const UPLOAD_SESSION = {
  '': `${ENVELOPE} upload_session_id upload_session quota`,
  upload_session: 'id creator_id collection_id organization_index metadata expires_at max_bytes max_tracks',
  quota: 'max_bytes used_bytes max_tracks used_tracks resets_at',
}
// The fields of a variant in the specification, followed by the settings, which we added.
export const VARIANT = 'id name type format content_type bitrate index codec channels start length'
export const REPROCESS = 'state all total done failed started_at finished_at'
export const SQUARE = 'type width height url'
/** The fields of a playback in the specification, and those that we added: `list`, `chapters`, `chapter_files`, `files`. */
export const PLAYBACK = 'track_id list chapters chapter_files cover_image large_cover track levels variants files'
export const TRACK_VARIANT = 'index content_type size bitrate duration'
export const playbackAt = (at: string) => ({
  [`${at}cover_image`]: 'icon small regular',
  [`${at}cover_image.icon`]: SQUARE,
  [`${at}cover_image.small`]: SQUARE,
  [`${at}cover_image.regular`]: SQUARE,
  // The fields of a listed track without its timestamps but with `is_dark`, and with `is_preliminary`, which we added.
  [`${at}track`]: `${PLAYED_TRACK} is_dark is_preliminary`,
  [`${at}list`]: 'scope title subtitle',
  [`${at}levels`]: 'levels',
  [`${at}variants.0`]: 'path url variant',
  [`${at}variants.0.variant`]: 'index',
  [`${at}files.0`]: TRACK_VARIANT,
})
export const SESSION = {
  play_session: PLAY_SESSION,
  list: 'scope title subtitle',
  'tracks.0': 'id index duration order player_title player_subtitle player_color',
  first_track: PLAYBACK,
  ...playbackAt('first_track.'),
}

import * as z from 'zod'

import { named, ok } from './common.ts'
import * as limits from './facts.ts'
import { defineOperations } from './operation.ts'

/** One limit of this service (docs/limits.md). */
export const Limit = named('Limit', {
  /** As in docs/limits.md. */
  name: z.string(),
  /** The amount in `unit`: a maximum, unless `applies_to` says otherwise. */
  value: z.number(),
  /** The counted things, such as `bytes` or `requests per minute`. */
  unit: z.string(),
  /** Its scope, in words. */
  applies_to: z.string(),
})

export type Limit = z.infer<typeof Limit>

const limit = (name: string, value: number, unit: string, applies_to: string): Limit => ({
  name,
  value,
  unit,
  applies_to,
})

/** All limits. The operator configures the two limits for audio files. docs/limits.md is generated from this list. */
export const limitsOf = (env: { MAX_UPLOAD_BYTES: string; MAX_DURATION_SECONDS: string }): Limit[] => [
  limit('upload_size', Number(env.MAX_UPLOAD_BYTES), 'bytes', 'audio files'),
  limit('duration', Number(env.MAX_DURATION_SECONDS), 'seconds', 'audio files'),
  limit('upload_ttl', limits.UPLOAD_TTL, 'seconds', 'upload URLs and upload sessions'),
  limit('source_url_length', limits.MAX_SOURCE_URL, 'characters', 'source_url'),
  limit('source_redirects', limits.MAX_REDIRECTS, 'redirects', 'source_url'),
  limit('multipart_ttl', limits.MULTIPART_TTL, 'seconds', 'uploads in parts, and files to fetch'),
  limit('uploader_bytes', limits.UPLOADER_BYTES, 'bytes', 'what a new uploader key may add a day'),
  limit('uploader_tracks', limits.UPLOADER_TRACKS, 'tracks', 'what a new uploader key may add a day'),
  limit('trash_ttl', limits.TRASH_TTL, 'seconds', 'what is in the trash'),
  limit('part_size', limits.PART_SIZE, 'bytes', 'parts of an upload, at least'),
  limit('part_urls', limits.MAX_PART_URLS, 'URLs', 'one answer about an upload in parts'),
  limit('cover_size', limits.MAX_COVER_BYTES, 'bytes', 'cover images'),
  limit('cover_pixels', limits.MAX_COVER_PIXELS, 'pixels', 'cover images'),
  limit('play_session_ttl', limits.MAX_SESSION_TTL, 'seconds', 'expires_in of play sessions'),
  limit('session_token_length', limits.MAX_SESSION_TOKEN, 'characters', 'signed play sessions'),
  limit('zip_files', limits.MAX_ZIP_FILES, 'files', 'ZIPs'),
  limit('zip_selection', limits.MAX_ZIP_SELECTION, 'tracks', 'ZIPs of selected tracks'),
  limit('zip_ttl', limits.ZIP_TTL, 'seconds', 'URLs of ZIPs of selected tracks'),
  limit('zip_size', limits.MAX_ZIP_BYTES, 'bytes', 'ZIPs'),
  limit('share_session_ttl', limits.SHARE_SESSION_TTL, 'seconds', 'play sessions of shares'),
  limit('share_slug_length', limits.MAX_SLUG, 'characters', 'slugs of shares'),
  limit('share_password_length', limits.MAX_PASSWORD, 'characters', 'passwords of shares'),
  limit('share_text_length', limits.MAX_SHARE_TEXT, 'characters', 'texts of shares'),
  limit('share_links', limits.MAX_SHARE_LINKS, 'links', 'shares'),
  limit('feed_episodes', limits.MAX_FEED_EPISODES, 'episodes', 'the feed of a share'),
  limit('feed_text_length', limits.MAX_FEED_TEXT, 'characters', 'notes of all episodes in a feed'),
  limit('episode_text_length', limits.MAX_EPISODE_TEXT, 'characters', 'notes of episodes'),
  limit('playback_ttl', limits.PLAYBACK_TTL, 'seconds', 'URLs in play views and behind links to files'),
  limit('session_tracks', limits.MAX_SESSION_TRACKS, 'tracks', 'the list of a play session'),
  limit('session_views', limits.MAX_VIEWS, 'play views', 'one response for a play session'),
  limit('session_variants', limits.MAX_SESSION_VARIANTS, 'variants', 'play sessions'),
  limit('chapters', limits.MAX_CHAPTERS, 'chapters', 'a track'),
  limit('playlist_tracks', limits.MAX_PLAYLIST_TRACKS, 'tracks', 'playlists'),
  limit('variants', limits.MAX_VARIANTS, 'variants', "an organization's own"),
  limit('preview_length', limits.MAX_PREVIEW, 'seconds', 'previews'),
  limit('webhook_endpoints', limits.MAX_ENDPOINTS, 'endpoints', 'an organization'),
  limit('webhook_url_length', limits.MAX_WEBHOOK_URL, 'characters', 'url of webhook endpoints'),
  limit('webhook_answer_size', limits.MAX_WEBHOOK_ANSWER, 'bytes', 'what is kept of an answer to a delivery'),
  limit('page_size', limits.MAX_PAGE, 'items', 'limit of lists'),
  limit(
    'filtered_offset',
    limits.MAX_FILTERED_OFFSET,
    'items',
    'offset of lists that are searched, filtered or sorted, and of all tracks',
  ),
  limit('search_words', limits.MAX_WORDS, 'words', 'q'),
  limit('batch_size', limits.MAX_BATCH, 'changes', 'batches of tracks; shares, in batches of shares'),
  limit('batch_body_size', limits.MAX_BATCH_BYTES, 'bytes', 'JSON bodies of batches'),
  limit('usage_days', limits.USAGE_DAYS, 'days', 'from of the usage'),
  limit('listener_length', limits.MAX_LISTENER, 'characters', 'listener of play sessions'),
  limit('stats_days', limits.STATS_DAYS, 'days', 'one response of statistics'),
  limit('stats_tracks', limits.MAX_STATS_TRACKS, 'tracks', 'statistics of the tracks of a collection'),
  limit('event_days', limits.EVENT_DAYS, 'days', 'events, at least'),
  limit(
    'event_window',
    limits.EVENT_WINDOW,
    'events',
    'what a page of a filtered feed, or of deliveries, looks through',
  ),
  limit('event_wait', limits.MAX_EVENT_WAIT, 'seconds', 'wait of the feed'),
  limit('body_size', limits.MAX_BODY_BYTES, 'bytes', 'JSON bodies'),
  limit('mcp_size', limits.MAX_MCP_BYTES, 'bytes', 'a message to /mcp'),
  limit('string_length', limits.MAX_STRING, 'characters', 'text fields'),
  limit('metadata_size', limits.MAX_METADATA_BYTES, 'bytes', 'metadata, as JSON'),
  limit('metadata_depth', limits.MAX_METADATA_DEPTH, 'levels', 'metadata'),
  limit('theme_colors', limits.MAX_THEME_COLORS, 'colors', 'theme'),
  limit('api_rate', limits.API_RATE, 'requests per minute', 'one server key; a browser key, per address'),
  limit('play_rate', limits.PLAY_RATE, 'requests per minute', 'one play session or share, by one address'),
  limit(
    'audience_rate',
    limits.AUDIENCE_RATE,
    'requests per minute',
    "one play session, share or browsers' key, by everybody",
  ),
  limit(
    'miss_rate',
    limits.MISS_RATE,
    'requests per minute',
    'play sessions, tracks and heard_tokens that do not exist or are forged, by one address',
  ),
  limit(
    'heard_rate',
    limits.HEARD_RATE,
    'requests per minute',
    'listening reports of one share, or of one session without a share, by one address',
  ),
  limit(
    'heard_organization_rate',
    limits.HEARD_ORGANIZATION_RATE,
    'requests per minute',
    'listening reports of one organization, by one address',
  ),
  limit('heard_size', limits.MAX_HEARD_BYTES, 'bytes', 'a listening report'),
]

export const limitOperations = defineOperations({
  listLimits: {
    method: 'get',
    path: '/v1/limits',
    summary: 'List the limits of this service',
    tag: 'Limits',
    access: ['root', 'server', 'player', 'uploader'],
    effect: 'read',
    guide: 'limits',
    response: ok({
      /** All limits, with those that the operator has set. */
      limits: z.array(Limit),
    }),
  },
})

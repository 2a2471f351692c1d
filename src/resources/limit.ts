import type { Handlers } from '../context.ts'
import * as limits from '../contract/common.ts'
import type { limitOperations } from '../contract/limit.ts'
import { MAX_PLAYLIST_TRACKS } from '../contract/playlist.ts'
import { MAX_PREVIEW, MAX_VARIANTS } from '../contract/variant.ts'

export const limitHandlers: Handlers<typeof limitOperations> = {
  listLimits: async (_input, { env }) => ({
    limits: [
      { name: 'body_size', value: limits.MAX_BODY_BYTES, unit: 'bytes', applies_to: 'JSON bodies' },
      { name: 'string_length', value: limits.MAX_STRING, unit: 'characters', applies_to: 'text fields' },
      { name: 'metadata_size', value: limits.MAX_METADATA_BYTES, unit: 'bytes', applies_to: 'metadata, as JSON' },
      { name: 'metadata_depth', value: limits.MAX_METADATA_DEPTH, unit: 'levels', applies_to: 'metadata' },
      { name: 'theme_colors', value: limits.MAX_THEME_COLORS, unit: 'colors', applies_to: 'theme' },
      { name: 'session_variants', value: limits.MAX_SESSION_VARIANTS, unit: 'variants', applies_to: 'play sessions' },
      { name: 'playlist_tracks', value: MAX_PLAYLIST_TRACKS, unit: 'tracks', applies_to: 'playlists' },
      { name: 'variants', value: MAX_VARIANTS, unit: 'variants', applies_to: "an organization's own" },
      { name: 'preview_length', value: MAX_PREVIEW, unit: 'seconds', applies_to: 'previews' },
      { name: 'page_size', value: 200, unit: 'items', applies_to: 'limit of lists' },
      {
        name: 'filtered_offset',
        value: limits.MAX_FILTERED_OFFSET,
        unit: 'items',
        applies_to: 'offset of filtered lists',
      },
      { name: 'upload_size', value: Number(env.MAX_UPLOAD_BYTES), unit: 'bytes', applies_to: 'audio files' },
      { name: 'cover_size', value: limits.MAX_COVER_BYTES, unit: 'bytes', applies_to: 'cover images' },
      { name: 'duration', value: Number(env.MAX_DURATION_SECONDS), unit: 'seconds', applies_to: 'audio files' },
      { name: 'upload_ttl', value: limits.UPLOAD_TTL, unit: 'seconds', applies_to: 'upload URLs and upload sessions' },
      { name: 'play_session_ttl', value: 86_400, unit: 'seconds', applies_to: 'expires_in of play sessions' },
      {
        name: 'api_rate',
        value: limits.API_RATE,
        unit: 'requests per minute',
        applies_to: 'one API key, per location',
      },
      {
        name: 'play_rate',
        value: limits.PLAY_RATE,
        unit: 'requests per minute',
        applies_to: 'one play session, per location',
      },
    ],
  }),
}

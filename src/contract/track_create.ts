import * as z from 'zod'

import { HexColor } from './color.ts'
import { Id, Metadata, RequiredText, Text, Title } from './common.ts'
import { MAX_SOURCE_URL } from './facts.ts'
import { EpisodeSettings } from './feed.ts'

/** Facts about a file that will be uploaded. The upload URL is signed with those that are given. */
export const UploadHints = {
  /** Exact size of the file that will be sent. Quotas reserve it; without it, they reserve the largest size that is allowed. */
  file_size: z.int().min(1).meta({ 'x-unit': 'bytes' }).optional(),
  /** The media type with which the file will be sent, such as `audio/mpeg`. Without it, any is accepted. */
  content_type: Text.regex(/^[\w.+-]+\/[\w.+-]+(;[ \w.+=-]*)?$/, 'must be a media type like audio/mpeg').optional(),
}

/** The settings of a track that a request may give it. */
export const trackSettings = {
  /** A user of your application, by a UUID that you choose. */
  creator_id: Id.nullable().optional(),
  /** Your own identifier. It need not be unique, and lists can be filtered by it. */
  organization_index: Text.nullable().optional(),
  /** Your own data: a JSON object of at most 16 KB, nested at most 5 levels deep. Everyone who has a play session can see it. */
  metadata: Metadata.optional(),
  /** Stored as you send it; it changes nothing, because nothing inherits from a track. */
  is_cover_overridable: z.boolean().optional(),
  /** Stored as you send it; it changes nothing, because nothing inherits from a track. */
  is_theme_overridable: z.boolean().optional(),
  /** Title for listeners, on one line; null uses that of the tags or the file name. */
  player_title: Title.nullable().optional(),
  /** Second line in players; null inherits it. */
  player_subtitle: Title.nullable().optional(),
  /** Color of the player; null inherits it. */
  player_color: HexColor.nullable().optional(),
  /** Facts that only podcast feeds show, such as season and notes; null removes them. */
  episode: EpisodeSettings.nullable().optional(),
}

export const TrackCreate = z.strictObject({
  /** Where the track is added, at the end. */
  collection_id: Id,
  /** Name of the file that will be uploaded or fetched. The format is detected from the content, not from the name. */
  file_name: RequiredText,
  /**
   * A secret https URL from which the service fetches the audio, instead of an upload (docs/upload.md#from-a-url). No response contains it. `file_size` is then the
   * maximum number of bytes that are fetched.
   */
  source_url: z.string().min(1).max(MAX_SOURCE_URL).optional(),
  ...trackSettings,
  ...UploadHints,
})
export type TrackCreate = z.infer<typeof TrackCreate>

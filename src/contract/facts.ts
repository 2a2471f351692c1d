/** Limits and other constants that several parts of the project share. This file must not import zod, because browsers and the transcoder load it. */

export const MAX_STRING = 255
/** The languages of the elements, the pages for listeners and the studio. */
export const LOCALES = ['en', 'ar', 'de', 'es', 'fr', 'ja'] as const
export type Locale = (typeof LOCALES)[number]
export const MAX_METADATA_BYTES = 16 * 1024
export const MAX_METADATA_DEPTH = 5
export const MAX_BODY_BYTES = 64 * 1024
/** A message of MCP. The body of an operation is part of it. */
export const MAX_MCP_BYTES = 256 * 1024
export const MAX_THEME_COLORS = 12
/** Maximum number of tracks that a play session lists, and maximum number of variants that it may name. */
export const MAX_SESSION_TRACKS = 1000
export const MAX_SESSION_VARIANTS = 20
/** Maximum number of play views in one response for a session. Players request as many. */
export const MAX_VIEWS = 5
/** Maximum lifetime in seconds of a play session and of a signed playback URL. Players request a new play view before a URL expires. */
export const MAX_SESSION_TTL = 86_400
export const PLAYBACK_TTL = 3600
/** Size in bytes of the largest file that Cloudflare caches below its Enterprise plan: 512 MB (Cache, Default cache behavior). */
export const ZONE_FILE_LIMIT = 512_000_000
/** Share of the successful requests for play sessions that write a log line. All lines would cost as much as the files (docs/decisions/0082). */
export const LOGGED_SHARE = 0.01
/** Seconds for which an upload handle is valid (specification §8). */
export const UPLOAD_TTL = 3600
/** Seconds after which deleted items leave the trash. */
export const TRASH_TTL = 7 * 86_400
/** Multipart uploads: bytes per part, which are the minimum of R2, and from `LARGE_FILE` bytes on; maximum number of parts, for which the parts of larger files grow; seconds until an upload expires. */
export const PART_SIZE = 5 * 1024 * 1024
export const LARGE_PART_SIZE = 8 * 1024 * 1024
export const LARGE_FILE = 500_000_000
export const MAX_PARTS = 1000
export const MULTIPART_TTL = 86_400
/** Number of part URLs in the response that starts an upload, and maximum number in any response. */
export const PART_URLS = 8
export const MAX_PART_URLS = 16
/** Maximum length of a `source_url`, which may contain a long signature, and maximum number of redirects from it. */
export const MAX_SOURCE_URL = 4096
export const MAX_REDIRECTS = 5
/** Number of files that a transcoder fetches at the same time. */
export const IMPORT_SLOTS = 4
/** Maximum number of items on one page of a list. */
export const MAX_PAGE = 200
/** Maximum length of `after`, which contains the title by which a list is sorted. */
export const MAX_AFTER = 2000
/** Maximum `offset` in a list that is searched, filtered or sorted, and in the list of all tracks. `after` reads further. */
export const MAX_FILTERED_OFFSET = 10_000
/** Maximum number of changes in a batch, and maximum bytes of its body. */
export const MAX_BATCH = 200
export const MAX_BATCH_BYTES = 512 * 1024
/** Maximum number of words in a search query. */
export const MAX_WORDS = 16
/**
 * Maximum requests per minute, as in the rate limits of wrangler.toml (src/http/auth/limit_rate.ts): for an API key, for a listener, for all
 * listeners of a session together, and for a client that tries unknown ids or passwords.
 */
export const API_RATE = 1200
export const PLAY_RATE = 600
export const AUDIENCE_RATE = 60_000
export const MISS_RATE = 60
/** Maximum listening reports per minute of one address: for a share, or a session without a share, and for an organization. A school has one address. */
export const HEARD_RATE = 2400
export const HEARD_ORGANIZATION_RATE = 4800
/**
 * Maximum bytes of a listening report, maximum of its numbers, and maximum number of its listens, of the ranges of a listen, and of the characters of
 * its source. A token is valid for a day after its session was created, or until an hour after the session's end, whichever is later.
 */
export const MAX_HEARD_BYTES = 4096
export const MAX_HEARD_NUMBER = 1_000_000
export const MAX_HEARD_LISTENS = 50
export const MAX_HEARD_RANGES = 50
export const MAX_HEARD_SOURCE = 100
export const HEARD_TOKEN_TTL = 86_400
export const HEARD_AFTER_SESSION = 3600
/** Number of days, including today, for which usage is reported day by day. */
export const USAGE_DAYS = 400
/** Maximum length of a signed play session, and the seconds by which the clock of its signer may be ahead. */
export const MAX_SESSION_TOKEN = 1024
export const TOKEN_CLOCK_SKEW = 60
/** Form of a signed play session: a JWT. */
export const SESSION_TOKEN = '[\\w-]+\\.[\\w-]+\\.[\\w-]+'
/** Maximum length of the caller's pseudonym for a listener. */
export const MAX_LISTENER = 64
/** Default and maximum of the days after which the progress of a listener ends. */
export const PROGRESS_DAYS = 400
export const MAX_PROGRESS_DAYS = 3650
/** Maximum number of tracks of a collection in one response of statistics. */
export const MAX_STATS_TRACKS = 1000
/**
 * Maximum number of days in one response of statistics, and the age in days until which days are kept: those of single tracks, and all others. Older days
 * are months.
 */
export const STATS_DAYS = 400
export const TRACK_DAYS = 60
/** Maximum bytes of a Durable Object (Durable Objects, Limits), and the fraction of them from which the operator is warned. */
export const LISTENING_LIMIT = 10e9
export const LISTENING_WARNING = 0.7
/**
 * Whole days for which events are kept; maximum rows that are scanned for one page of events or deliveries; maximum seconds that a request for the
 * feed can wait for an event.
 */
export const EVENT_DAYS = 30
export const EVENT_WINDOW = 5000
export const MAX_EVENT_WAIT = 25
/** Maximum number of webhook endpoints per organization, maximum length of their URLs, and maximum bytes that are stored of a receiver's response. */
export const MAX_ENDPOINTS = 20
export const MAX_WEBHOOK_URL = 2048
export const MAX_WEBHOOK_ANSWER = 1024
/** Maximum number of a track or disc in tags that people set. */
export const MAX_TAG_NUMBER = 9999
/** Maximum number of chapters of a track. */
export const MAX_CHAPTERS = 500
/** Maximum start of a chapter in seconds, and maximum length of the addresses of a chapter. */
export const MAX_CHAPTER_START = 1_000_000
export const MAX_CHAPTER_URL = 2048
/** Maximum number of tracks in a playlist. */
export const MAX_PLAYLIST_TRACKS = 1000
/** The bytes and tracks that an uploader key may add a day, unless it was created with other values. */
export const UPLOADER_BYTES = 20_000_000_000
export const UPLOADER_TRACKS = 500
/** Maximum number of origins of an API key. */
export const MAX_ORIGINS = 50
/**
 * Maximum length of a share's `slug`, and its pattern; minimum and maximum length of its `password`. A session of a share expires after this many
 * seconds, so playback can continue that long after the share was revoked.
 */
export const MAX_SLUG = 64
export const SLUG = `[a-z0-9-]{3,${MAX_SLUG}}`
export const MIN_PASSWORD = 8
export const MAX_PASSWORD = 128
export const SHARE_SESSION_TTL = 900
/** Maximum length of the text on a share's page, maximum number of links below it, and maximum length of their titles and URLs. */
export const MAX_SHARE_TEXT = 5000
export const MAX_SHARE_LINKS = 4
export const MAX_LINK_TITLE = 80
export const MAX_LINK_URL = 2048
/** Maximum number of episodes in a podcast feed, and of the characters of all their notes. */
export const MAX_FEED_EPISODES = 1000
export const MAX_FEED_TEXT = 1_000_000
/** Maximum length of the notes of an episode, maximum of its number and its season, and maximum length of the owner's email address. */
export const MAX_EPISODE_TEXT = 10_000
export const MAX_EPISODE_NUMBER = 99_999
export const MAX_EMAIL = 254
/** Minimum length of ROOT_KEY, with which a caller may do everything. */
export const MIN_ROOT_KEY = 24
/** The start of the key of a share's page. Its slug follows. */
export const SHARE_KEY = 'ta_sh_'
/**
 * Maximum files and bytes of a ZIP. A Worker request may call the storage only a thousand times (Workers, Limits), and the Worker has to compute the
 * CRC of every byte.
 */
export const MAX_ZIP_FILES = 900
export const MAX_ZIP_BYTES = 10_000_000_000
/** Maximum tracks of a ZIP whose URL contains their ids, and seconds until the URL expires. With 300 ids, it has about 8,800 characters of 16,000 (Workers, Limits). */
export const MAX_ZIP_SELECTION = 300
export const ZIP_TTL = 900
/** Maximum number of variants that an organization can define in addition to the catalog. */
export const MAX_VARIANTS = 20
/** Maximum length of a variant's `index`, which is also used as a file name. */
export const MAX_VARIANT_INDEX = 40
/** Maximum length and maximum start of a preview, in seconds. */
export const MAX_PREVIEW = 600
export const MAX_PREVIEW_START = 43_200

/** The color of a resource that has none and inherits none. */
export const DEFAULT_COLOR = '#2B3440'

/** Maximum bytes and pixels of a cover image. */
export const MAX_COVER_BYTES = 10_000_000
export const MAX_COVER_PIXELS = 40_000_000
/** Widths and heights in pixels of the three square images (specification §2, Cover image). */
export const COVER_SIZES = { icon: 80, small: 200, regular: 400 } as const
/** Maximum width and height in pixels of the large cover, which is for feeds and cards. Smaller images are not enlarged. */
export const LARGE_COVER = 1400
export type CoverSize = keyof typeof COVER_SIZES
/** Accepted formats of covers, each with a pattern for the first bytes of a file as Latin-1. */
export const COVER_TYPES = {
  'image/jpeg': /^\xff\xd8\xff/,
  // oxlint-disable-next-line no-control-regex -- part of the PNG signature
  'image/png': /^\x89PNG\r\n\x1a\n/,
  'image/webp': /^RIFF[^]{4}WEBP/,
  'image/gif': /^GIF8[79]a/,
  'image/avif': /^[^]{4}ftypavi[fs]/,
}
export const isCover = (image: Uint8Array) =>
  Object.values(COVER_TYPES).some((magic) => magic.test(String.fromCharCode(...image.subarray(0, 16))))

interface Codec {
  label: string
  /** The name of the format in the API, and the file extension. Both are unique for each codec. */
  format: string
  extension: string
  content_type: string
  /** Valid bitrates in kbit/s: a list of values, or a range with a separate maximum for mono. Null for lossless codecs. */
  bitrates: readonly number[] | { least: number; most: number; most_mono: number } | null
  /** Valid sample rates in Hz, ascending; null if all are valid. */
  rates: readonly number[] | null
  /** Maximum number of channels. */
  channels: number
  lossless: boolean
}

/** Sample rates that both AAC and MP3 support and that every browser can play. */
const MPEG_RATES = [16_000, 22_050, 24_000, 32_000, 44_100, 48_000]
/** The bitrates of MPEG-1 layer III (ISO/IEC 11172-3 §2.4.2.3) in kbit/s. An MP3 with a constant bitrate must have one of them. */
export const MP3_BITRATES = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
/** Maximum bitrate of all variants, in kbit/s. */
export const MAX_BITRATE = 320

/** The slots of a transcoder. Each value is the maximum size in bytes of a source in that slot. */
export const JOB_SLOTS = [Infinity, 20_000_000, 2_000_000]

/**
 * The audio codecs, each with its file type (docs/architecture.md#audio-in-browsers). To add a codec, also add its media type to `PLAY_TYPES` and its
 * ffmpeg arguments to container/audio/command.ts.
 */
export const CODECS = {
  aac: {
    label: 'AAC in M4A',
    format: 'm4a',
    extension: 'm4a',
    content_type: 'audio/mp4',
    bitrates: { least: 32, most: MAX_BITRATE, most_mono: MAX_BITRATE },
    rates: MPEG_RATES,
    channels: 2,
    lossless: false,
  },
  mp3: {
    label: 'MP3',
    format: 'mp3',
    extension: 'mp3',
    content_type: 'audio/mpeg',
    bitrates: MP3_BITRATES,
    rates: MPEG_RATES,
    channels: 2,
    lossless: false,
  },
  opus: {
    label: 'Opus in WebM',
    format: 'opus',
    extension: 'webm',
    content_type: 'audio/webm; codecs=opus',
    // libopus accepts at most 256 kbit/s per channel.
    bitrates: { least: 16, most: MAX_BITRATE, most_mono: 256 },
    rates: [48_000],
    channels: 2,
    lossless: false,
  },
  flac: {
    label: 'FLAC',
    format: 'flac',
    extension: 'flac',
    content_type: 'audio/flac',
    bitrates: null,
    rates: null,
    channels: 8,
    lossless: true,
  },
} as const satisfies Record<string, Codec>
export type AudioCodec = keyof typeof CODECS
/**
 * Media types by file extension, with the codec, which `canPlayType` needs. They are not part of `CODECS`, so that players do not have to load all of
 * it.
 */
export const PLAY_TYPES = {
  m4a: 'audio/mp4; codecs="mp4a.40.2"',
  mp3: 'audio/mpeg',
  webm: 'audio/webm; codecs="opus"',
  flac: 'audio/flac',
} as const satisfies Record<(typeof CODECS)[AudioCodec]['extension'], string>
/**
 * The default transcodes in the order in which players should try them (docs/decisions/0019). AAC plays in all browsers and is sample-accurate. Opus is never
 * first, because older versions of Safari cannot play it (docs/architecture.md#audio-in-browsers).
 */
export const DEFAULT_VARIANTS: [aac: string, mp3: string, opus: string, lossless: string] = [
  'aac-160',
  'mp3-128',
  'opus-96',
  'lossless',
]
/** Returns `CODECS[codec]` with the general type, for code that handles all codecs. */
export const codecOf = (codec: AudioCodec): Codec => CODECS[codec]
/** Returns the content type of a generated file by its extension. The storage sends the file with it. */
export const contentTypeOf = (extension: string): string =>
  Object.values(CODECS).find((codec) => codec.extension === extension)?.content_type ?? 'application/json'
/** Content types of uploaded files that browsers may play, by the first name that ffmpeg has for their container. */
const SOURCE_TYPES: Record<string, string> = {
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  flac: 'audio/flac',
  mov: 'audio/mp4',
  aac: 'audio/aac',
  ogg: 'audio/ogg',
  aiff: 'audio/aiff',
}
/** Returns the content type of an uploaded file by the name of its container, which may be a list such as `mov,mp4,m4a`; null if it is another one. */
export const sourceTypeOf = (container: string | null | undefined): string | null =>
  SOURCE_TYPES[container?.split(',', 1)[0] ?? ''] ?? null

/** The fraction of DATABASE_LIMIT_BYTES from which the operator is warned. */
export const FILL_WARNING = 0.8
/**
 * The fraction of DATABASE_LIMIT_BYTES from which operations that add rows are rejected (docs/decisions/0076). Play sessions are deleted a day after
 * their end, so they may continue longer. The rest is for deletions and jobs.
 */
export const GROWTH_UNTIL = { content: 0.95, session: 0.99 }
export type Growth = keyof typeof GROWTH_UNTIL

/** Seconds for which a public response may be cached. This is also the maximum time until listeners see a change (docs/decisions/0028). */
export const PLAY_CACHE_SECONDS = 30
/** Seconds for which an isolate uses the key of a signed play session without reading it again. A replica that lags behind by up to 5 s fits into the 30. */
export const KEY_CACHE_SECONDS = 25

/** Returns a file name without its extension. It is the title of a track that has no other title. */
export const withoutExtension = (file_name: string) => file_name.replace(/\.[^.]*$/, '')

/** Formats seconds as a time: `75.4` → `1:15`, `3700` → `1:01:40`. */
export function formatClock(seconds: number): string {
  const total = Math.max(0, Math.floor(seconds || 0))
  const minutes = Math.floor(total / 60)
  const twoDigits = (value: number) => String(value % 60).padStart(2, '0')
  return (minutes < 60 ? `${minutes}:` : `${Math.floor(minutes / 60)}:${twoDigits(minutes)}:`) + twoDigits(total)
}

/** Limits and other constants that several parts share. No zod here, because browsers and the transcoder import this file. */

export const MAX_STRING = 255
export const MAX_METADATA_BYTES = 16 * 1024
export const MAX_METADATA_DEPTH = 5
export const MAX_BODY_BYTES = 64 * 1024
export const MAX_THEME_COLORS = 12
/** Most tracks that a play session lists, and most variants that it may name. */
export const MAX_SESSION_TRACKS = 1000
export const MAX_SESSION_VARIANTS = 20
/** Maximum lifetime in seconds of a play session and of a signed playback URL. Players request a new play view before a URL expires. */
export const MAX_SESSION_TTL = 86_400
export const PLAYBACK_TTL = 3600
/** Seconds an upload handle stays valid (specification §8). */
export const UPLOAD_TTL = 3600
/** Seconds until deleted items leave the trash. */
export const TRASH_TTL = 7 * 86_400
/** Minimum bytes per part of a multipart upload, and maximum number of parts: large files have larger parts. Seconds until such an upload expires. */
export const PART_SIZE = 8 * 1024 * 1024
export const MAX_PARTS = 1000
export const MULTIPART_TTL = 86_400
/** Number of part URLs in the response that starts an upload, and most in any one response. */
export const PART_URLS = 8
export const MAX_PART_URLS = 16
/** Items on one page of a list. */
export const MAX_PAGE = 200
/** Largest `offset` in a filtered list; unfiltered lists have no limit. */
export const MAX_FILTERED_OFFSET = 10_000
/** Changes in a batch, and bytes of its body. */
export const MAX_BATCH = 200
export const MAX_BATCH_BYTES = 512 * 1024
/** Words in a search query. */
export const MAX_WORDS = 16
/**
 * Requests per minute, as in wrangler.toml's rate limits (src/http/auth/limit_rate.ts): per key, per listener, per session across all listeners, per
 * guesser.
 */
export const API_RATE = 1200
export const PLAY_RATE = 600
export const AUDIENCE_RATE = 60_000
export const MISS_RATE = 60
/** Days that the usage reports individually, including today. */
export const USAGE_DAYS = 400
/** Whole days that events are kept; rows scanned for one page of events or deliveries; seconds that the feed can wait for an event. */
export const EVENT_DAYS = 30
export const EVENT_WINDOW = 5000
export const MAX_EVENT_WAIT = 25
/** Webhook endpoints per organization, longest URL, and bytes stored of a receiver's response. */
export const MAX_ENDPOINTS = 20
export const MAX_WEBHOOK_URL = 2048
export const MAX_WEBHOOK_ANSWER = 1024
/** Most tracks in a playlist. */
export const MAX_PLAYLIST_TRACKS = 1000
/** Most origins of an API key. */
export const MAX_ORIGINS = 50
/**
 * Longest `slug` of a share, its pattern, shortest and longest `password`. A session of a share lives this many seconds, so playback can go on that
 * long after a revocation.
 */
export const MAX_SLUG = 64
export const SLUG = `[a-z0-9-]{3,${MAX_SLUG}}`
export const MIN_PASSWORD = 8
export const MAX_PASSWORD = 128
export const SHARE_SESSION_TTL = 900
/**
 * Most files in a ZIP, as a Worker request may call storage a thousand times (Workers, Limits), and most bytes, as their CRCs are computed in the
 * Worker.
 */
export const MAX_ZIP_FILES = 900
export const MAX_ZIP_BYTES = 10_000_000_000
/** Variants that an organization can define in addition to the catalog. */
export const MAX_VARIANTS = 20
/** Longest `index` of a variant, which is also a file name. */
export const MAX_VARIANT_INDEX = 40
/** Longest preview, and its latest start, in seconds. */
export const MAX_PREVIEW = 600
export const MAX_PREVIEW_START = 43_200

/** The color of a resource that neither sets nor inherits one. */
export const DEFAULT_COLOR = '#2B3440'

/** Most bytes and pixels of a cover image. */
export const MAX_COVER_BYTES = 10_000_000
export const MAX_COVER_PIXELS = 40_000_000
/** Pixels of the three squares (specification §2, Cover image). */
export const COVER_SIZES = { icon: 80, small: 200, regular: 400 } as const
/** Edge of the large cover for feeds and cards. Smaller pictures are not enlarged. */
export const LARGE_COVER = 1400
export type CoverSize = keyof typeof COVER_SIZES
/** Accepted cover formats, with a pattern for their first bytes as Latin-1. */
export const COVER_TYPES = {
  'image/jpeg': /^\xff\xd8\xff/,
  // oxlint-disable-next-line no-control-regex -- the format's own
  'image/png': /^\x89PNG\r\n\x1a\n/,
  'image/webp': /^RIFF[^]{4}WEBP/,
  'image/gif': /^GIF8[79]a/,
  'image/avif': /^[^]{4}ftypavi[fs]/,
}
export const isCover = (image: Uint8Array) =>
  Object.values(COVER_TYPES).some((magic) => magic.test(String.fromCharCode(...image.subarray(0, 16))))

interface Codec {
  label: string
  /** The API's name of the format, and the file extension. Both are unique per codec. */
  format: string
  extension: string
  content_type: string
  /** Kbit/s: a list of all values, or a range with a separate maximum for mono. Null for lossless codecs. */
  bitrates: readonly number[] | { least: number; most: number; most_mono: number } | null
  /** Sample rates in Hz, ascending; null for any. */
  rates: readonly number[] | null
  /** Most channels. */
  channels: number
  lossless: boolean
}

/** Sample rates of both MPEG codecs; every browser plays them. */
const MPEG_RATES = [16_000, 22_050, 24_000, 32_000, 44_100, 48_000]
/** The bitrates of MPEG-1 layer III (ISO/IEC 11172-3 §2.4.2.3) in kbit/s. An MP3 of constant bitrate has no others. */
export const MP3_BITRATES = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
/** Maximum kbit/s of any variant. */
export const MAX_BITRATE = 320

/** The slots of one transcoder, each with the largest source in bytes that may run there. */
export const JOB_SLOTS = [Infinity, 20_000_000, 2_000_000]

/**
 * The audio encoders, each with its file type (docs/architecture.md#audio-in-browsers). A new one needs an entry here, in `PLAY_TYPES`, and its
 * ffmpeg arguments in container/audio/command.ts.
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
    // libopus accepts at most 256 per channel.
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
/** Media types by file extension, with the codec for `canPlayType`. Separate from `CODECS`, so that players load only these. */
export const PLAY_TYPES = {
  m4a: 'audio/mp4; codecs="mp4a.40.2"',
  mp3: 'audio/mpeg',
  webm: 'audio/webm; codecs="opus"',
  flac: 'audio/flac',
} as const satisfies Record<(typeof CODECS)[AudioCodec]['extension'], string>
/** `CODECS[codec]` with the wider type, for code that handles any codec. */
export const codecOf = (codec: AudioCodec): Codec => CODECS[codec]

/** Seconds for which a public view may be cached, and so the longest delay of a change in it (docs/decisions/0028). */
export const PLAY_CACHE_SECONDS = 30

/** A file name without its extension: the title of a track that has no other. */
export const withoutExtension = (file_name: string) => file_name.replace(/\.[^.]*$/, '')

/** `75.4` → `1:15`, `3700` → `1:01:40`. */
export function clock(seconds: number): string {
  const total = Math.max(0, Math.floor(seconds || 0))
  const minutes = Math.floor(total / 60)
  const twoDigits = (value: number) => String(value % 60).padStart(2, '0')
  return (minutes < 60 ? `${minutes}:` : `${Math.floor(minutes / 60)}:${twoDigits(minutes)}:`) + twoDigits(total)
}

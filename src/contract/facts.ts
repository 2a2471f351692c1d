/** Facts that more than one part is built on, each said once. No zod here: browsers and the transcoder take them too. */

export const MAX_STRING = 255
export const MAX_METADATA_BYTES = 16 * 1024
export const MAX_METADATA_DEPTH = 5
export const MAX_BODY_BYTES = 64 * 1024
export const MAX_THEME_COLORS = 12
/** Tracks that a play session lists at most, and the variants that it may name. */
export const MAX_SESSION_TRACKS = 1000
export const MAX_SESSION_VARIANTS = 20
/** Seconds a play session lives at most, and those a signed playback URL does; players ask for a new play view before. */
export const MAX_SESSION_TTL = 86_400
export const PLAYBACK_TTL = 3600
/** Seconds an upload handle stays valid (specification §8). */
export const UPLOAD_TTL = 3600
/** Seconds for which the trash keeps things. */
export const TRASH_TTL = 7 * 86_400
/** Bytes of a part of a multipart upload at least, and parts at most: parts of large files are larger. Seconds that such an upload may take. */
export const PART_SIZE = 8 * 1024 * 1024
export const MAX_PARTS = 1000
export const MULTIPART_TTL = 86_400
/** URLs of parts in the answer that begins one, and in one answer at most. */
export const PART_URLS = 8
export const MAX_PART_URLS = 16
/** Items on one page of a list. */
export const MAX_PAGE = 200
/** Deepest `offset` within a filtered list; without a filter there is no bound. */
export const MAX_FILTERED_OFFSET = 10_000
/** Changes in a batch, and bytes of its body. */
export const MAX_BATCH = 200
export const MAX_BATCH_BYTES = 512 * 1024
/** Words in a search. */
export const MAX_WORDS = 16
/** Requests per minute, as in wrangler.toml's rate limits (src/http/limit_rate.ts): of a key, of a listener, of an audience, of a guesser. */
export const API_RATE = 1200
export const PLAY_RATE = 600
export const AUDIENCE_RATE = 60_000
export const MISS_RATE = 60
/** Days that the usage tells one by one, today among them. */
export const USAGE_DAYS = 400
/** Days that events are kept, whole ones; rows that one page of them, or of deliveries, looks through, and seconds that it waits for one. */
export const EVENT_DAYS = 30
export const EVENT_WINDOW = 5000
export const MAX_EVENT_WAIT = 25
/** Webhook endpoints of an organization, the longest URL of one, and bytes that are kept of what a receiver answers. */
export const MAX_ENDPOINTS = 20
export const MAX_WEBHOOK_URL = 2048
export const MAX_WEBHOOK_ANSWER = 1024
/** Tracks that a playlist holds at most. */
export const MAX_PLAYLIST_TRACKS = 1000
/** Origins that an API key names at most. */
export const MAX_ORIGINS = 50
/** Longest `slug` of a share, what any is like, shortest and longest `password`; seconds that a session of a share lives, and so plays on after it was revoked. */
export const MAX_SLUG = 64
export const SLUG = `[a-z0-9-]{3,${MAX_SLUG}}`
export const MIN_PASSWORD = 8
export const MAX_PASSWORD = 128
export const SHARE_SESSION_TTL = 900
/** Files in a ZIP, as a request may ask storage a thousand times (Workers, Limits), and bytes, whose CRCs are computed on the way. */
export const MAX_ZIP_FILES = 900
export const MAX_ZIP_BYTES = 10_000_000_000
/** Variants of its own that an organization may have, beside the catalogue's. */
export const MAX_VARIANTS = 20
/** Longest `index` of a variant, which is also a file's name. */
export const MAX_VARIANT_INDEX = 40
/** Longest preview, and its latest start, in seconds. */
export const MAX_PREVIEW = 600
export const MAX_PREVIEW_START = 43_200

/** The color of what has none of its own, and inherits none. */
export const DEFAULT_COLOR = '#2B3440'

/** Bytes and pixels of an image that is to be a cover. */
export const MAX_COVER_BYTES = 10_000_000
export const MAX_COVER_PIXELS = 40_000_000
/** Pixels of the three squares (specification §2, Cover image). */
export const COVER_SIZES = { icon: 80, small: 200, regular: 400 } as const
/** The most of a fourth one, for feeds and cards: as large as the picture is, and never enlarged. */
export const LARGE_COVER = 1400
export type CoverSize = keyof typeof COVER_SIZES
/** The images that are taken as covers, with what their first bytes look like as Latin-1. */
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
  /** What the API calls the kind of file, and the ending of its name. No two codecs have the same. */
  format: string
  extension: string
  content_type: string
  /** Kbit/s: all that there are, or the least and the most, and the most with one channel. Null: it has none. */
  bitrates: readonly number[] | { least: number; most: number; most_mono: number } | null
  /** Hz that it is encoded at, rising; null: any. */
  rates: readonly number[] | null
  /** Most channels. */
  channels: number
  lossless: boolean
}

/** What both MPEG families are made at: no browser refuses these. */
const MPEG_RATES = [16_000, 22_050, 24_000, 32_000, 44_100, 48_000]
/** The bitrates of MPEG-1 layer III (ISO/IEC 11172-3 §2.4.2.3), kbit/s: an MP3 of constant bitrate has no other. */
export const MP3_BITRATES = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
/** Kbit/s that no variant passes. */
export const MAX_BITRATE = 320

/** The places in which one transcoder works at the same time, by the most bytes that a source may have there. */
export const JOB_SLOTS = [Infinity, 20_000_000, 2_000_000]

/**
 * The encoders of audio variants, each with the file that it is put into (docs/architecture.md#audio-in-browsers). Another one takes an
 * entry here, in `PLAY_TYPES` and its ffmpeg arguments in container/audio/command.ts.
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
    // libopus takes at most 256 for each channel.
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
/** The types of the files by their extension, with the codec that `canPlayType` needs. Apart from `CODECS`, because players load only these. */
export const PLAY_TYPES = {
  m4a: 'audio/mp4; codecs="mp4a.40.2"',
  mp3: 'audio/mpeg',
  webm: 'audio/webm; codecs="opus"',
  flac: 'audio/flac',
} as const satisfies Record<(typeof CODECS)[AudioCodec]['extension'], string>
/** The same for code that asks about any codec. */
export const codecOf = (codec: AudioCodec): Codec => CODECS[codec]

/** Seconds for which the same public view may be given again, and so the most by which its text is late (docs/decisions/0028). */
export const PLAY_REUSE = 30

/** A file's name without its extension: what a track is called where nothing else is known. */
export const withoutExtension = (file_name: string) => file_name.replace(/\.[^.]*$/, '')

/** `75.4` → `1:15`, `3700` → `1:01:40`. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds || 0))
  const minutes = Math.floor(whole / 60)
  const two = (value: number) => String(value % 60).padStart(2, '0')
  return (minutes < 60 ? `${minutes}:` : `${Math.floor(minutes / 60)}:${two(minutes)}:`) + two(whole)
}

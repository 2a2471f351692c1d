import type { SourceInfo, TrackInfo } from '../../contract/info.ts'

/**
 * Packs the column `tracks.info`. The facts about a source are stored by position, because their names would need more bytes than their values
 * (docs/decisions/0069).
 */

/**
 * The names of the facts in the order in which the facts are stored. New names can only be appended: stored rows and play_rows.ts depend on the
 * positions.
 */
const FACT_NAMES = [
  'container',
  'codec',
  'profile',
  'sample_rate',
  'channels',
  'channel_layout',
  'bit_depth',
  'bitrate',
  'lossless',
  'size',
  'tags',
  'chapters',
  'chapter_count',
  'has_cover',
  'loudness',
  'silence',
  'pass',
  'ffmpeg',
] as const satisfies (keyof SourceInfo)[]

/** The names of the fields of `loudness` in the order in which their values are stored. New names can only be appended. */
const LOUDNESS = [
  'integrated_lufs',
  'loudness_range',
  'true_peak_dbtp',
  'sample_peak_dbfs',
  'replaygain_track_gain',
  'replaygain_track_peak',
  'r128_track_gain',
  'is_silent',
] as const satisfies (keyof SourceInfo['loudness'])[]

type Values = Record<string, unknown>
/** The stored form of `info`: `facts` is the list of the packed facts, and all other fields are unchanged. */
export type StoredInfo = Values & { facts?: unknown[] }

const hasAll = (value: unknown, keys: readonly string[]): value is Values =>
  typeof value === 'object' && value !== null && keys.every((key) => key in value)

const list = (values: Values, keys: readonly string[]) => keys.map((key) => values[key])
const named = (values: unknown[], keys: readonly string[]) =>
  Object.fromEntries(keys.slice(0, values.length).map((key, at) => [key, values[at]]))

/**
 * Returns the stored form of `info`. Incomplete facts are not packed, for example those of a track that was not processed yet. So do those next to a
 * field `facts`, which a newer transcoder may send.
 */
export function packInfo(info: TrackInfo): StoredInfo {
  if ('facts' in info || !hasAll(info, FACT_NAMES) || !hasAll(info.loudness, LOUDNESS)) return info
  const facts = { ...info, loudness: list(info.loudness, LOUDNESS) }
  const others = Object.entries(info).filter(([key]) => !(FACT_NAMES as readonly string[]).includes(key))
  return { facts: list(facts, FACT_NAMES), ...Object.fromEntries(others) }
}

/** Decodes the loudness that `LOUDNESS_SQL` selects. */
export const unpackLoudness = (stored: unknown[] | Values) => (Array.isArray(stored) ? named(stored, LOUDNESS) : stored)

/** Reverses `packInfo`. The fields are in the order in which the transcoder sent them. */
export function unpackInfo(stored: StoredInfo): TrackInfo {
  const { facts, ...info } = stored
  if (!Array.isArray(facts)) return stored
  const source = named(facts, FACT_NAMES)
  source.loudness = unpackLoudness(source.loudness as unknown[])
  return { ...source, ...info }
}

const factSql = (key: (typeof FACT_NAMES)[number]) =>
  `coalesce(tracks.info -> '$.facts[${FACT_NAMES.indexOf(key)}]', tracks.info -> '$.${key}')`
/** The loudness of a track as stored JSON, in SQL; `unpackLoudness` decodes it. */
export const LOUDNESS_SQL = factSql('loudness')
/** Number of the chapters in a track's source, in SQL; null before the track was processed. */
export const CHAPTER_COUNT_SQL = `cast(${factSql('chapter_count')} as integer)`
/** The size of a track's source in bytes, in SQL; null before the track was processed. */
export const SIZE_SQL = factSql('size')
/** The error of a track and the number of its warnings as JSON, in SQL. */
export const STATE_SQL = `json_object('error', tracks.info -> '$.error', 'warnings',
  coalesce(json_array_length(tracks.info, '$.warnings'), 0) + coalesce(json_array_length(tracks.info, '$.failed_variants'), 0))`

import * as z from 'zod'

import { digits, Id, including, named, ok } from './common.ts'
import { MAX_HEARD_SOURCE, MAX_PAGE } from './facts.ts'
import { CoverImage } from './media.ts'
import { defineOperations, type Table } from './operation.ts'
import { STATS_SCOPES } from './stats_scope.ts'

const counts = {
  /** Listens in which 30 seconds were heard, or half of the track if it is shorter than a minute. */
  plays: z.int(),
  /** Number of times that a player on a page was used. */
  visits: z.int(),
  /** Seconds of the recording that were heard. A part that was heard twice counts twice. */
  seconds: z.number(),
  /** Listens in which 90 % of the track was heard. */
  completions: z.int(),
  /** Downloads of files and ZIPs, without those by known bots. */
  downloads: z.int(),
  /** Seconds of the recording that played muted. They are not in `seconds`. */
  muted_seconds: z.number(),
  /** Those of `seconds` that were played faster than recorded. */
  fast_seconds: z.number(),
}
/** Sums of listening (docs/counting.md). */
export const ListeningCounts = named('ListeningCounts', counts)
export type ListeningCounts = z.infer<typeof ListeningCounts>

const COLUMNS = Object.keys(counts)

/** The kind of the resource. */
export const StatsScope = z.enum(STATS_SCOPES)

const days = {
  /** First day, in UTC. By default, 29 days before `to`. */
  from: z.iso.date().optional(),
  /** Last day, in UTC. By default, today. */
  to: z.iso.date().optional(),
}
const range = {
  /** First day that is covered. */
  from: z.iso.date(),
  /** Last day that is covered. */
  to: z.iso.date(),
  /**
   * Whether other days are covered than requested: single tracks have days for the last 60 days, everything else for 400, and whole months before
   * (docs/counting.md#days-and-months).
   */
  is_rounded: z.boolean(),
}

export interface Range {
  from: string
  to: string
}
/** Returns a table whose rows end with the days that they cover, which can be more than were requested. */
const withRange = (columns: string[], rows: Table['rows'], { from, to }: Range) => ({
  columns: [...columns, 'from', 'to'],
  rows: rows.map((row) => ({ ...row, from, to })),
})

const tag = 'Statistics'

export const statsOperations = defineOperations({
  getStats: {
    method: 'get',
    path: '/v1/stats/{scope}/{resource_id}',
    summary:
      'Get what was heard of a resource on at most 400 days, by day, country or source; CSV with `Accept: text/csv` (curl, fetch)',
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'counting',
    limits: ['stats_days'],
    params: z.object({
      scope: StatsScope,
      /** Id of the organization, collection, track, playlist or share. */
      resource_id: Id,
    }),
    nouns: { scope: null },
    query: z.strictObject({
      ...days,
      /** The meaning of a row: a day, a country, or a page or app with a player. */
      by: z.enum(['day', 'country', 'source']).default('day'),
      /** Counts only this country (ISO 3166-1), as a row by country names it: with fewer than five visits, everything is 0. Only by day, and without `source`. */
      country: z
        .string()
        .regex(/^[A-Z][A-Z\d]$/, 'must be two capital letters, such as DE')
        .optional(),
      /** Counts only this source, as a row by source names it. Only by day. */
      source: z
        .string()
        .min(1)
        .max(MAX_HEARD_SOURCE)
        .refine(
          (source) => !/^https?:/.test(source),
          'must be the name of a source, such as blog.example without https://',
        )
        .optional(),
    }),
    response: ok({
      scope: StatsScope,
      /** As in the path. */
      resource_id: z.uuid(),
      ...range,
      /** As requested. */
      by: z.enum(['day', 'country', 'source']),
      /** Sums of all days. */
      totals: ListeningCounts,
      /** Every day of the range, before them the months that are no longer known by day; or the countries or sources, those with the most plays first. */
      rows: z.array(
        z.object({
          /**
           * The day (`2027-01-31`) or month (`2027-01`), the code of the country (ISO 3166-1), or the source. Null for everything else: countries with fewer
           * than five visits, unknown countries and sources, and sources after the first 100.
           */
          key: z.string().nullable(),
          ...counts,
        }),
      ),
      /** Only for the organization, without `country` and `source`: the reports of players that were not counted. */
      refused: z
        .array(
          z.object({
            /** One of the reasons in docs/counting.md. */
            reason: z.string(),
            /** Number of reports. */
            reports: z.int(),
          }),
        )
        .optional(),
    }),
    csv: ({ rows, by, ...range }: Table & Range & { by: string }) =>
      by === 'day' ? { columns: ['key', ...COLUMNS], rows } : withRange(['key', ...COLUMNS], rows, range),
  },
  getTopStats: {
    method: 'get',
    path: '/v1/stats/top',
    summary:
      'List the tracks, collections, playlists or shares with the most plays; CSV with `Accept: text/csv` (curl, fetch)',
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'counting',
    limits: ['stats_days', 'stats_tracks'],
    query: z.strictObject({
      ...days,
      /** The kind of the resources. */
      scope: StatsScope.exclude(['organization']).default('track'),
      /** Only with the scope `track`: returns the tracks of this collection, also those without plays. */
      collection_id: Id.optional(),
      /** Maximum number of rows; by default 50, and with `collection_id` all tracks of the collection, up to 1,000. */
      limit: digits(1, MAX_PAGE, 'items').optional(),
      /** `artwork` adds covers. */
      include: including('artwork'),
    }),
    response: ok({
      scope: StatsScope,
      ...range,
      /** The resources with plays, or all tracks of `collection_id`; those with the most plays first. */
      rows: z.array(
        z.object({
          /** Id of the track, collection, playlist or share. */
          id: z.uuid(),
          /** Null if the resource was deleted. */
          title: z.string().nullable(),
          /** Only with `include=artwork`. Shares have none. */
          artwork: CoverImage.optional(),
          ...counts,
        }),
      ),
    }),
    csv: ({ rows, ...range }: Table & Range) => withRange(['id', 'title', ...COLUMNS], rows, range),
    errors: ['not_found'],
  },
  getRetention: {
    method: 'get',
    path: '/v1/track/{track_id}/retention',
    summary: 'Get how many visits heard each part of a track; CSV with `Accept: text/csv` (curl, fetch)',
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'counting',
    limits: ['stats_days'],
    params: z.object({
      /** As returned when the track was created. */
      track_id: Id,
    }),
    query: z.strictObject(days),
    response: ok({
      /** As in the path. */
      track_id: z.uuid(),
      ...range,
      /** Length of the track in seconds. */
      duration: z.number(),
      /** Length of a step of the curve in seconds: 1, or a thousandth of the track if that is longer. */
      step: z.number(),
      /** Number of visits that heard the current recording. */
      visits: z.int(),
      /** For each step, the number of visits that heard it. */
      heard: z.array(z.int()),
      /** For each step, how often it was heard. */
      times: z.array(z.int()),
    }),
    csv: ({ heard, times, step, ...range }: Range & { heard: number[]; times: number[]; step: number }) => {
      const rows = heard.map((visits, at) => ({
        second: Math.round(at * step * 1000) / 1000,
        heard: visits,
        times: times[at]!,
      }))
      return withRange(['second', 'heard', 'times'], rows, range)
    },
  },
})

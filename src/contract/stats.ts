import * as z from 'zod'

import { Id, including, named, ok, Page } from './common.ts'
import { CoverImage } from './media.ts'
import { defineOperations, type Table } from './operation.ts'
import { STATS_SCOPES } from './stats_scope.ts'

/** The sums of listening; docs/counting.md has their rules. */
const counts = {
  /** Passes of a track in which 30 s were heard, or half of it if it is shorter than a minute. */
  plays: z.int(),
  /** Times that a player on a page was used, with at least one report. */
  visits: z.int(),
  /** Seconds of the recording that were heard; a part heard twice counts twice. */
  seconds: z.number(),
  /** Passes of a track of which 90 % was heard. */
  completions: z.int(),
  downloads: z.int(),
  /** Seconds of the recording that played muted, which are not in `seconds`. */
  muted_seconds: z.number(),
  /** Those of `seconds` that were played faster than recorded. */
  fast_seconds: z.number(),
}
export const ListeningCounts = named('ListeningCounts', counts)
export type ListeningCounts = z.infer<typeof ListeningCounts>

const COLUMNS = Object.keys(counts)

export const StatsScope = z.enum(STATS_SCOPES)

/** Days in UTC. By default, the last 30 days until today. */
const days = { from: z.iso.date().optional(), to: z.iso.date().optional() }
const range = {
  from: z.iso.date(),
  to: z.iso.date(),
  /**
   * Whether `from` or `to` is another day than requested: single tracks have days for the last 60 days, everything else for 400, and whole months before
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
    params: z.object({ scope: StatsScope, resource_id: Id }),
    nouns: { scope: null },
    query: z.strictObject({ ...days, by: z.enum(['day', 'country', 'source']).default('day') }),
    response: ok({
      scope: StatsScope,
      resource_id: z.uuid(),
      ...range,
      by: z.enum(['day', 'country', 'source']),
      totals: ListeningCounts,
      /**
       * Every day of the range (before them the months that are no longer known by day), or the countries or sources with the most plays first. `key` is the
       * day (`2027-01-31`) or the month (`2027-01`), the code of the country (ISO 3166-1) or the host
       * name of the page. It is null for everything else: countries with fewer than five visits, unknown countries and sources, and sources beyond the first 100.
       */
      rows: z.array(z.object({ key: z.string().nullable(), ...counts })),
      /** Only for the organization: the reports of players that were not counted, by reason. */
      refused: z.array(z.object({ reason: z.string(), reports: z.int() })).optional(),
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
    query: z.strictObject({
      ...days,
      scope: StatsScope.exclude(['organization']).default('track'),
      limit: Page.shape.limit,
      include: including('artwork'),
    }),
    response: ok({
      scope: StatsScope,
      ...range,
      /** `title` is null if the resource was deleted. Shares have no artwork. */
      rows: z.array(
        z.object({ id: z.uuid(), title: z.string().nullable(), artwork: CoverImage.optional(), ...counts }),
      ),
    }),
    csv: ({ rows, ...range }: Table & Range) => withRange(['id', 'title', ...COLUMNS], rows, range),
  },
  getRetention: {
    method: 'get',
    path: '/v1/track/{track_id}/retention',
    summary: 'Get how many visits heard each part of a track; CSV with `Accept: text/csv` (curl, fetch)',
    tag,
    access: ['server'],
    params: z.object({ track_id: Id }),
    query: z.strictObject(days),
    response: ok({
      track_id: z.uuid(),
      ...range,
      /** In seconds. Each step of the curve is at least one second, and at least a thousandth of the track. */
      duration: z.number(),
      step: z.number(),
      /** The visits that heard the current recording. */
      visits: z.int(),
      /** For each step: the visits that heard it, and how often it was heard. */
      heard: z.array(z.int()),
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

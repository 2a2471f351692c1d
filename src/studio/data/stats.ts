import { STATS_DAYS, TRACK_DAYS } from '../../contract/facts.ts'
import type { Client, StatsScope } from '../base/api.ts'
import { tn } from '../base/text.ts'
import { addDays, before, lastDays, type Period, today } from '../ui/charts/period.ts'
import { useClient } from './connection.ts'
import { useQuery } from './query.ts'

/** Queries of the listening statistics (docs/counting.md). */

/** A resource, and days; with a country or a source, only what was heard there. */
export interface StatsOf {
  scope: StatsScope
  /** Until it is known, nothing is read. */
  id: string | undefined
  /** By default the last 30 days. */
  period?: Period
  country?: string | undefined
  source?: string | undefined
}

type By = 'day' | 'country' | 'source'

const readStats = (client: Client, { scope, id = '', period = lastDays(30), country, source }: StatsOf, by: By) =>
  client.get('/v1/stats/{scope}/{resource_id}', {
    params: { scope, resource_id: id },
    query: { ...period, by, ...(country && { country }), ...(source && { source }) },
  })

export type Stats = Extract<Awaited<ReturnType<typeof readStats>>, { ok: true }>
export type StatsRow = Stats['rows'][number]

/** Reads the listening statistics of a resource. */
export function useStats(of: StatsOf, by: By = 'day') {
  const client = useClient()
  const { scope, id, period = lastDays(30), country, source } = of
  const key = ['stats', scope, id, period.from, period.to, by, country, source]
  return useQuery<Stats>(id ? { key, showsPrevious: true, load: () => readStats(client, of, by) } : null)
}

/** The numbers of statistics that are counts. */
export const STATS_COUNTS = [
  'plays',
  'visits',
  'seconds',
  'completions',
  'downloads',
  'muted_seconds',
  'fast_seconds',
] as const

/** The days of a period, or months if some of its days are only known by month, and the days of the period before. */
export interface ComparedStats {
  ok: true
  period: Period
  rows: StatsRow[]
  /** Null if the days before are not kept, or do not fit into one response with the others. */
  before: StatsRow[] | null
  /** Whether the rows start earlier than the period (docs/counting.md#days-and-months). */
  is_rounded: boolean
  /** The first day of the rows. */
  from: string
}

/** Whether all days of a period, and all days of the period before, are known as days, and fit into one response. */
export function isComparable(scope: StatsScope, period: Period): boolean {
  const { from } = before(period)
  const kept = scope === 'track' ? TRACK_DAYS : STATS_DAYS
  return from > addDays(today(), -kept) && from > addDays(period.to, -STATS_DAYS)
}

async function readCompared(client: Client, of: StatsOf & { period: Period }) {
  const { scope, period } = of
  const isCompared = isComparable(scope, period)
  const wider = { from: before(period).from, to: period.to }
  const answer = await readStats(client, isCompared ? { ...of, period: wider } : of, 'day')
  if (!answer.ok) return answer
  const { rows, is_rounded, from } = answer
  const start = isCompared ? rows.length / 2 : 0
  return {
    ok: true as const,
    period,
    rows: rows.slice(start),
    before: isCompared ? rows.slice(0, start) : null,
    is_rounded,
    from: isCompared ? period.from : from,
  }
}

/** Reads the days of a period and of the period before with one request. */
export function useComparedStats(of: StatsOf & { period: Period }) {
  const client = useClient()
  const { scope, id, period, country, source } = of
  const key = ['compared stats', scope, id, period.from, period.to, country, source]
  return useQuery<ComparedStats>(id ? { key, showsPrevious: true, load: () => readCompared(client, of) } : null)
}

export const playsIn30Days = (plays: number) => tn({ one: '{n} play in 30 days', other: '{n} plays in 30 days' }, plays)
export const visitsIn30Days = (visits: number) =>
  tn({ one: '{n} visit in 30 days', other: '{n} visits in 30 days' }, visits)

import { USAGE_DAYS } from '../../contract/facts.ts'
import type { Client } from '../base/api.ts'
import { addDays, before, type Period, today } from '../ui/charts/period.ts'
import { useClient } from './connection.ts'
import { useQuery } from './query.ts'

/** Queries of the usage by day (docs/operate.md#usage). */

const readUsage = (client: Client, query: Period) => client.get('/v1/usage', { query })

export type UsageAnswer = Extract<Awaited<ReturnType<typeof readUsage>>, { ok: true }>
/** The usage, whose `days` are those of its period. */
export type Usage = UsageAnswer['usage']
export type UsageDay = Usage['days'][number]

/** Returns the days of a period that have a usage. */
export function knownDays({ from, to }: Period): Period {
  const first = addDays(today(), 1 - USAGE_DAYS)
  return { from: from < first ? first : from, to: to < first ? first : to }
}

async function readCompared(client: Client, period: Period) {
  const { from } = before(period)
  const isCompared = knownDays({ from, to: period.to }).from === from
  const answer = await readUsage(client, isCompared ? { from, to: period.to } : period)
  if (!answer.ok) return answer
  const { days } = answer.usage
  const start = isCompared ? days.length / 2 : 0
  return {
    ...answer,
    period,
    usage: { ...answer.usage, days: days.slice(start) },
    /** The days of the period before; null if they are not kept. */
    before: isCompared ? days.slice(0, start) : null,
  }
}

export type ComparedUsage = Extract<Awaited<ReturnType<typeof readCompared>>, { ok: true }>

/** Reads the usage of a period and of the period before with one request. */
export function useComparedUsage(chosen: Period) {
  const client = useClient()
  const period = knownDays(chosen)
  return useQuery<ComparedUsage>({
    key: ['/v1/usage', period.from, period.to],
    showsPrevious: true,
    load: () => readCompared(client, period),
  })
}

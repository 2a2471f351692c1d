import type { Client, StatsScope } from '../base/api.ts'
import { firstDay } from '../ui/charts/days.ts'
import { useClient } from './connection.ts'
import { useQuery } from './query.ts'

/** Queries of the listening statistics (docs/counting.md). */

/** A resource, and the number of days until today. */
export interface StatsOf {
  scope: StatsScope
  /** Until it is known, nothing is read. */
  id: string | undefined
  /** By default 30. */
  days?: number
}

type By = 'day' | 'country' | 'source'

const readStats = (client: Client, { scope, id = '', days = 30 }: StatsOf, by: By) =>
  client.get('/v1/stats/{scope}/{resource_id}', {
    params: { scope, resource_id: id },
    query: { from: firstDay(days), by },
  })

export type Stats = Extract<Awaited<ReturnType<typeof readStats>>, { ok: true }>

/** Reads the listening statistics of a resource. */
export function useStats(of: StatsOf, by: By = 'day') {
  const client = useClient()
  const { scope, id, days = 30 } = of
  return useQuery<Stats>(
    id ? { key: ['stats', scope, id, days, by], showsPrevious: true, load: () => readStats(client, of, by) } : null,
  )
}

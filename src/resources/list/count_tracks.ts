import { type SQL, sql } from 'drizzle-orm'

import { inJsonList } from '../../adapters/db/database.ts'
import { listCounts } from '../../adapters/db/schema/counters.ts'
import { collections } from '../../adapters/db/schema/library.ts'

/** The number of collections whose counts are added at most. Each costs two rows, and one for each status. */
const MAX_COLLECTIONS = 1000

/**
 * Returns a query for the number of an organization's tracks, with `status` only of those with one of its statuses. The query adds the counts of the
 * collections, and gives null if there are too many of them.
 */
export function countTracks(organization_id: string, status?: string[]): SQL {
  const filters = inJsonList(status?.map((name) => `?status=${name}`) ?? [''])
  const list = `collections:${organization_id}`
  const count = sql`(select count from ${listCounts} where list = ${list} and level = 0 and bucket = 0)`
  return sql`(
    select sum(counted.count)
    from (
      select id from ${collections} where organization_id = ${organization_id}
      limit iif(${count} <= ${MAX_COLLECTIONS}, ${MAX_COLLECTIONS}, 0)
    ) as owned
    cross join ${filters} as filter
    cross join ${listCounts} as counted
      on counted.list = 'tracks:' || owned.id || filter.value and counted.level = 0 and counted.bucket = 0)`
}

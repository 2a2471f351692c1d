/** Divides the concurrent requests among endpoints, so that slow and failing receivers do not delay others (docs/decisions/0057). */

/**
 * Maximum number of concurrent requests to one endpoint, so that a slow endpoint does not delay others. A failing endpoint gets only one, and all
 * failing endpoints together get half of the total.
 */
export const MAX_PER_ENDPOINT = 4
const FOR_FAILING = 3
/** Number of requests reserved for endpoints with nothing in flight, so that slow receivers cannot starve them. */
const FOR_IDLE = 2

/** An endpoint with due deliveries. `leases` is the number of its deliveries that are leased by any sender, counted up to `MAX_PER_ENDPOINT`. */
export interface DueEndpoint {
  id: string
  failing: number
  leases: number
}

/**
 * Returns how many additional deliveries each endpoint may have. They are granted in rounds, one per endpoint and round, to failing endpoints last,
 * and up to the limit of each endpoint.
 */
export function sharesOf(endpoints: DueEndpoint[], running: Iterable<{ endpoint: { id: string } }>, free: number) {
  const counts = new Map<string, number>()
  for (const { endpoint } of running) counts.set(endpoint.id, (counts.get(endpoint.id) ?? 0) + 1)
  const isFailing = new Map(endpoints.map(({ id, failing }) => [id, failing === 1]))
  let failing = [...counts].reduce((sum, [id, count]) => sum + (isFailing.get(id) ? count : 0), 0)
  const shares = new Map<string, number>()
  for (let granted = -1; granted !== 0 && free > 0;) {
    granted = 0
    for (const { id, leases } of endpoints) {
      const has = (counts.get(id) ?? 0) + (shares.get(id) ?? 0)
      const fails = isFailing.get(id)
      if (free <= (has + leases > 0 ? FOR_IDLE : 0)) continue
      if (has >= (fails ? 1 : MAX_PER_ENDPOINT) || (fails && failing >= FOR_FAILING)) continue
      shares.set(id, (shares.get(id) ?? 0) + 1)
      if (fails) failing++
      free--
      granted++
    }
  }
  return [...shares]
}

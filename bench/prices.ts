/**
 * Cloudflare's list prices in dollars, from developers.cloudflare.com/workers/platform/pricing,
 * workers/observability/logs/workers-logs, containers/pricing, durable-objects/platform/pricing and r2/pricing in 2026. Check them before
 * you quote a result. Free allowances, and storage except that of listening, are not included.
 */
const MILLION = 1_000_000

export const PRICES = {
  'Workers requests': 0.3 / MILLION,
  'Workers CPU, ms': 0.02 / MILLION,
  'D1 rows read': 0.001 / MILLION,
  'D1 rows written': 1 / MILLION,
  'R2 class A': 4.5 / MILLION,
  'R2 class B': 0.36 / MILLION,
  'Queue operations': 0.4 / MILLION,
  /** Requests that a Worker sends are free. */
  'Requests to receivers': 0,
  'Container CPU, vCPU s': 0.00002,
  'Container memory, GiB s': 0.0000025,
  'Container disk, GB s': 0.00000007,
  /** The price in North America and Europe. */
  'Container egress, GB': 0.025,
  'Durable Object requests': 0.15 / MILLION,
  'Durable Object GB s': 12.5 / MILLION,
  'Durable Object rows read': 0.001 / MILLION,
  'Durable Object rows written': 1 / MILLION,
  'Durable Object storage, GB months': 0.2,
  'Workers Logs lines': 0.6 / MILLION,
}

export type Item = keyof typeof PRICES
/** Amount of each billed item that was used. */
export type Use = Partial<Record<Item, number>>

/** Billed operations per queue message: one write, one read and one delete. */
export const OPERATIONS_PER_MESSAGE = 3

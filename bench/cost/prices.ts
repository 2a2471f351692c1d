/**
 * Cloudflare's list prices in dollars, from developers.cloudflare.com/workers/platform/pricing and r2/pricing as of 2026: to be read
 * again before they are quoted. What an account has free of charge is left out, and so is storage.
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
  /** What a Worker asks of others costs nothing. */
  'Requests to receivers': 0,
  'Container CPU, vCPU s': 0.00002,
  'Container memory, GiB s': 0.0000025,
  'Container disk, GB s': 0.00000007,
}

export type Item = keyof typeof PRICES
/** How much of each is used. */
export type Use = Partial<Record<Item, number>>

/** Written, delivered and deleted. */
export const OPERATIONS_PER_MESSAGE = 3

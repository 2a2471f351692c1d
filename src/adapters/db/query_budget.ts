import { intercept } from './intercept.ts'

/**
 * The D1 queries that one invocation of background work may make: D1 allows 1,000 (D1, Limits). A batch is one query, and each retry is another one.
 */
export interface QueryBudget {
  /** The number of queries so far. */
  readonly used: number
  /** The number of queries that may follow, without the kept ones. */
  readonly left: number
  /** Whether a query has been rejected since the last call of `keep`. */
  readonly isSpent: boolean
  /** Keeps queries for work that follows: the current work may use only the others. */
  keep(queries: number): void
  /** Counts a query. Throws if none is left. */
  take(): void
}

export function createQueryBudget(total: number): QueryBudget {
  let used = 0
  let kept = 0
  let isSpent = false
  return {
    get used() {
      return used
    },
    get left() {
      return total - used - kept
    },
    get isSpent() {
      return isSpent
    },
    keep(queries) {
      kept = queries
      isSpent = false
    },
    take() {
      if (total - used - kept <= 0) {
        isSpent = true
        throw new Error('the queries of this invocation are spent')
      }
      used++
    },
  }
}

/**
 * Returns a D1 binding that takes each query from a budget. Work whose budget is spent fails at any of its queries, like work whose isolate crashed:
 * all background work can be continued after that (test/worker/background/failpoints.test.ts).
 */
export const limitQueries = (d1: D1Database, budget: QueryBudget): D1Database =>
  intercept(d1, async (run) => {
    budget.take()
    return run()
  })

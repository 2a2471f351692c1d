import { type Growth, GROWTH_UNTIL } from '../../contract/facts.ts'

/** Milliseconds for which an isolate uses a known size. Meanwhile the database can grow by a small part of its reserve. */
const KNOWN_FOR = 10_000

/**
 * The size of the database in bytes, as an isolate knows it. D1 reports it with every result, in `size_after`. Free pages do not count, so the size
 * falls when rows are deleted (docs/architecture.md#d1).
 */
export function createDatabaseSize() {
  let bytes = 0
  let at = -Infinity
  const note = (result: D1Result | undefined) => {
    if (!result) return
    bytes = result.meta.size_after
    at = Date.now()
  }
  const known = () => (Math.abs(Date.now() - at) < KNOWN_FOR ? bytes : null)
  return {
    /** Returns the size; null if it is not known. */
    known,
    /** Returns the size. If it is not known, a query without rows measures it. */
    async measured(d1: D1Database): Promise<number> {
      if (known() === null) note(await d1.prepare('select 1').run())
      return bytes
    },
    /** Returns a D1 binding whose batches update the size. */
    watch: (d1: D1Database): D1Database =>
      new Proxy(d1, {
        get(_, name: keyof D1Database) {
          if (name !== 'batch') return d1[name].bind(d1)
          return async <T>(statements: D1PreparedStatement[]) => {
            const results = await d1.batch<T>(statements)
            note(results.at(-1))
            return results
          }
        },
      }),
  }
}
export type DatabaseSize = ReturnType<typeof createDatabaseSize>

/** Whether the database may grow, as far as its size is known. */
export function hasRoom(env: Pick<Env, 'DATABASE_LIMIT_BYTES'>, size: DatabaseSize, growth: Growth): boolean {
  const bytes = size.known()
  return bytes === null || fillLevel(env, bytes) < GROWTH_UNTIL[growth]
}

/** Returns which fraction of DATABASE_LIMIT_BYTES this size is. */
export const fillLevel = (env: Pick<Env, 'DATABASE_LIMIT_BYTES'>, size: number) =>
  size / Number(env.DATABASE_LIMIT_BYTES)

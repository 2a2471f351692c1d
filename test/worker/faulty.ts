/** D1 on a bad day: calls that fail before they are carried out, or whose answer is lost after that. */

type Moment = 'before' | 'after' | null

/** A database that asks before each call, counted from 1, whether and when it fails. */
export function faulty(d1: D1Database, failsAt: (call: number) => Moment): D1Database {
  let calls = 0
  async function ask<T>(call: () => Promise<T>): Promise<T> {
    const moment = failsAt(++calls)
    if (moment === 'before') throw lost()
    const answer = await call()
    if (moment === 'after') throw lost()
    return answer
  }
  const statement = (real: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(real, {
      get(_, name: keyof D1PreparedStatement) {
        if (name === 'bind') return (...values: unknown[]) => statement(real.bind(...values))
        const value = Reflect.get(real, name) as unknown
        if (typeof value !== 'function') return value
        return (...values: unknown[]) => ask(() => Reflect.apply(value, real, values) as Promise<unknown>)
      },
    })
  return new Proxy(d1, {
    get(_, name: keyof D1Database) {
      if (name === 'prepare') return (query: string) => statement(d1.prepare(query))
      if (name === 'batch') return (statements: D1PreparedStatement[]) => ask(() => d1.batch(statements))
      return d1[name].bind(d1)
    },
  })
}

const lost = () => new Error('D1_ERROR: Network connection lost.')

/** One call in so many fails, half of them before and half after; the same ones for the same seed. */
export function atRate(rate: number, seed: number): (call: number) => Moment {
  let state = seed
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return () => (random() >= rate ? null : random() < 0.5 ? 'before' : 'after')
}

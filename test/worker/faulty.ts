/** D1 on a bad day: calls that fail before they are carried out, or whose answer is lost after that. */

export type Moment = 'before' | 'after' | null

/** A database that asks before each call, counted from 1, whether and when it fails; by a fault that passes, unless said. */
export function faulty(d1: D1Database, failsAt: (call: number) => Moment, fault = lost): D1Database {
  let calls = 0
  async function ask<T>(call: () => Promise<T>): Promise<T> {
    const moment = failsAt(++calls)
    if (moment === 'before') throw fault()
    const answer = await call()
    if (moment === 'after') throw fault()
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

function lost() {
  return new Error('D1_ERROR: Network connection lost.')
}

/** One call in so many fails, half of them before and half after; the same ones for the same seed. */
export function atRate(rate: number, seed: number): (call: number) => Moment {
  let state = seed
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return () => (random() >= rate ? null : random() < 0.5 ? 'before' : 'after')
}

/** What a call of a binding changes; and what only asks, so that it is all the same when it fails. */
const CHANGES = ['batch', 'put', 'delete', 'createMultipartUpload', 'complete', 'abort', 'send', 'follow', 'cancel']
const QUESTIONS = ['head', 'get', 'list']
/** What these give is a binding, too. */
const WAYS = ['getByName', 'resumeMultipartUpload']

/**
 * The real bindings, each call of which asks first whether and when it fails; it is named like `MEDIA.put 2`, the second of its kind. Of
 * the database only batches: `faulty` has all the rest.
 */
export function failing(real: Env, failsAt: (place: string) => Moment): Env {
  const counts = new Map<string, number>()
  const watched = <T extends object>(binding: T, title: string): T =>
    new Proxy(binding, {
      get(_, method: string) {
        const value = Reflect.get(binding, method) as unknown
        if (typeof value !== 'function') return value
        const call = (...values: unknown[]) => Reflect.apply(value, binding, values) as Promise<unknown>
        if (WAYS.includes(method)) return (...values: unknown[]) => watched(call(...values), title)
        if (![...CHANGES, ...QUESTIONS].includes(method)) return call
        return async (...values: unknown[]) => {
          const name = `${title}.${method}`
          counts.set(name, (counts.get(name) ?? 0) + 1)
          const moment = failsAt(`${name} ${counts.get(name)}`)
          if (moment === 'before') throw lost()
          const answer = await call(...values)
          if (moment === 'after') throw lost()
          return answer
        }
      },
    })
  const { DB, MEDIA, TASK_QUEUE, TRANSCODE_QUEUE, TRANSCODER } = real
  const bindings = { DB, MEDIA, TASK_QUEUE, TRANSCODE_QUEUE, TRANSCODER }
  const all = Object.entries(bindings).map(([title, binding]) => [title, watched(binding as object, title)])
  return { ...real, ...(Object.fromEntries(all) as typeof bindings) }
}

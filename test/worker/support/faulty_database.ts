/** An unreliable D1 database: a call fails before it executes, or its response is lost after it has executed. */

export type FaultMoment = 'before' | 'after' | null

/**
 * A database that calls `failsAt` before each call with the number of the call, from 1 on. The result says whether and when the call fails. The fault
 * is transient by default.
 */
export function faultyDatabase(d1: D1Database, failsAt: (call: number) => FaultMoment, fault = lost): D1Database {
  let calls = 0
  async function callWithFault<T>(call: () => Promise<T>): Promise<T> {
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
        return (...values: unknown[]) => callWithFault(() => Reflect.apply(value, real, values) as Promise<unknown>)
      },
    })
  const watched = <T extends D1Database | D1DatabaseSession>(binding: T): T =>
    new Proxy(binding, {
      get(_, name: keyof T & string) {
        if (name === 'prepare') return (query: string) => statement(binding.prepare(query))
        if (name === 'batch')
          return (statements: D1PreparedStatement[]) => callWithFault(() => binding.batch(statements))
        if (name === 'withSession') return (constraint: string) => watched(d1.withSession(constraint))
        return (binding[name] as (...values: unknown[]) => unknown).bind(binding)
      },
    })
  return watched(d1)
}

function lost() {
  return new Error('D1_ERROR: Network connection lost.')
}

/** Makes a fraction `rate` of the calls fail, half of them before and half after their execution. The same seed makes the same calls fail. */
export function atRate(rate: number, seed: number): (call: number) => FaultMoment {
  let state = seed
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return () => (random() >= rate ? null : random() < 0.5 ? 'before' : 'after')
}

/** Methods of bindings that change data, and methods that only read. */
const CHANGES = ['batch', 'put', 'delete', 'createMultipartUpload', 'complete', 'abort', 'send', 'follow', 'cancel']
const READS = ['head', 'get', 'list']
/** Methods that return another binding. */
const RETURNS_BINDING = ['getByName', 'resumeMultipartUpload']

/**
 * The real bindings, except that `failsAt` decides for each call whether and when it fails. A call is named like `MEDIA.put 2`, where 2 is its number
 * among the calls of this method. For the database only batches can fail; `faultyDatabase` also makes single statements fail.
 */
export function faultyBindings(real: Env, failsAt: (place: string) => FaultMoment): Env {
  const counts = new Map<string, number>()
  const watched = <T extends object>(binding: T, title: string): T =>
    new Proxy(binding, {
      get(_, method: string) {
        const value = Reflect.get(binding, method) as unknown
        if (typeof value !== 'function') return value
        const call = (...values: unknown[]) => Reflect.apply(value, binding, values) as Promise<unknown>
        if (RETURNS_BINDING.includes(method)) return (...values: unknown[]) => watched(call(...values), title)
        if (![...CHANGES, ...READS].includes(method)) return call
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

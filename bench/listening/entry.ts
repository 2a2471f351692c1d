// @ts-expect-error workerd finds this module, because the Worker's bundle is in the same directory as this one.
import worker, { Listening as Real } from './index.js'

/**
 * The Worker with a clock that the bench sets, and with objects that count the rows that they read and write, and the time for which they are active. `GET
 * /bench` calls a method of an object, stops it, or sets the clock.
 */
// @ts-expect-error See above.
export * from './index.js'

const { now } = Date
let ahead = 0
/** The clock and all waits run faster by this factor from a time on. */
let speed = 1
let since = now()
Date.now = () => since + (now() - since) * speed + ahead
const { scheduler } = globalThis as unknown as { scheduler: { wait: (milliseconds: number) => Promise<void> } }
Object.assign(globalThis, { scheduler: { wait: (milliseconds: number) => scheduler.wait(milliseconds / speed) } })

let written = 0
/** The rows that were read; not exact while a query runs. */
let read = 0
/** Milliseconds for which an object had a call, summed over all objects. */
let active = 0

type Cursor = { rowsWritten: number; rowsRead: number }
type State = {
  abort: (reason: string) => void
  storage: { sql: { databaseSize: number; exec: (...parameters: unknown[]) => Cursor } }
}
type Object = { call: (method: string, parameters: unknown[]) => Promise<unknown>; stop: () => Promise<number> }

declare class ListeningObject {
  constructor(context: State, env: unknown)
  call(method: string, parameters: unknown[]): Promise<unknown>
}

export class Listening extends (Real as typeof ListeningObject) {
  readonly #context: State
  #calls = 0
  #since = 0
  #last: Cursor | undefined

  constructor(context: State, env: unknown) {
    const { sql } = context.storage
    const exec = sql.exec.bind(sql)
    // A query has read its rows when the next one runs.
    const finish = () => {
      read += this.#last?.rowsRead ?? 0
      this.#last = undefined
    }
    Object.assign(sql, {
      exec: (...parameters: unknown[]) => {
        finish()
        const cursor = exec(...parameters)
        written += cursor.rowsWritten
        this.#last = cursor
        return cursor
      },
    })
    super(context, env)
    this.#context = context
  }

  override async call(method: string, parameters: unknown[]): Promise<unknown> {
    if (this.#calls++ === 0) this.#since = Date.now()
    try {
      return await super.call(method, parameters)
    } finally {
      if (--this.#calls === 0) active += Date.now() - this.#since
    }
  }

  /** Returns the size of the database, and stops the object. */
  stop(): number {
    setTimeout(() => this.#context.abort('stopped by the bench'))
    return this.#context.storage.sql.databaseSize
  }
}

export default {
  ...worker,
  async fetch(request: Request, env: { LISTENING: { getByName: (name: string) => Object } }, context: unknown) {
    const url = new URL(request.url)
    if (url.pathname !== '/bench')
      return (worker as { fetch: (...all: unknown[]) => Promise<Response> }).fetch(request, env, context)
    const get = (name: string) => url.searchParams.get(name)
    if (get('ahead') !== null) ahead = Number(get('ahead'))
    if (get('speed') !== null) {
      const at = Date.now() - ahead
      since = now()
      ahead += at - since
      speed = Number(get('speed'))
    }
    const method = get('method')
    const parameters = JSON.parse(get('parameters') ?? '[]') as unknown[]
    const object = () => env.LISTENING.getByName(get('organization')!)
    const result =
      method === null ? null : method === 'stop' ? await object().stop() : await object().call(method, parameters)
    return Response.json({ written, read, active, result: result ?? null })
  },
}

// @ts-expect-error workerd finds this module, because the Worker's bundle is in the same directory as this one.
import worker, { Listening as Real } from './index.js'

/**
 * The Worker with a clock that the bench sets, and with objects that count the rows that they write. `GET /bench` calls a method of an object, or sets the
 * clock.
 */
// @ts-expect-error See above.
export * from './index.js'

const { now } = Date
let ahead = 0
Date.now = () => now() + ahead

let written = 0

type Cursor = { rowsWritten: number }
type State = { storage: { sql: { exec: (...parameters: unknown[]) => Cursor } } }
type Object = { call: (method: string, parameters: unknown[]) => Promise<unknown> }

export class Listening extends (Real as new (context: State, env: unknown) => object) {
  constructor(context: State, env: unknown) {
    const { sql } = context.storage
    const exec = sql.exec.bind(sql)
    Object.assign(sql, {
      exec: (...parameters: unknown[]) => {
        const cursor = exec(...parameters)
        written += cursor.rowsWritten
        return cursor
      },
    })
    super(context, env)
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
    const method = get('method')
    const parameters = JSON.parse(get('parameters') ?? '[]') as unknown[]
    const result = method === null ? null : await env.LISTENING.getByName(get('organization')!).call(method, parameters)
    return Response.json({ written, result: result ?? null })
  },
}

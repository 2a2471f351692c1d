// @ts-expect-error The Worker's own bundle lies beside this one in workerd.
import worker from './index.js'

/**
 * The Worker with a clock that the bench sets, where rows are counted; where time is taken the Worker runs as it is. A header of a
 * request says by how many milliseconds its time is off, and how many times faster it goes.
 */
// @ts-expect-error See above; the Durable Object's class is an export, too.
export * from './index.js'

const Real = Date
let began = Real.now()
let from = began
let speed = 1
const now = () => Math.floor(from + (Real.now() - began) * speed)

globalThis.Date = class extends Real {
  constructor(...values: []) {
    if (values.length === 0) super(now())
    else super(...values)
  }
  static override now = now
} as DateConstructor

export default {
  ...worker,
  fetch(request: Request, ...rest: unknown[]) {
    const setting = request.headers.get('bench-clock')
    if (setting === null) return worker.fetch(request, ...rest)
    const { ahead, times } = JSON.parse(setting) as { ahead: number; times: number }
    began = Real.now()
    from = began + ahead
    speed = times
    return new Response('set')
  },
}

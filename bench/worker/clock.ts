// @ts-expect-error workerd finds this module, because the Worker's bundle is in the same directory as this one.
import worker from './index.js'

/**
 * The Worker with a clock that the bench controls. It is used to count rows, and timed runs use the unmodified Worker. A request header
 * sets the clock's offset in milliseconds and its speed factor.
 */
// @ts-expect-error See above. The Durable Object class must also be exported.
export * from './index.js'

const Real = Date
let setAt = Real.now()
let base = setAt
let speed = 1
const now = () => Math.floor(base + (Real.now() - setAt) * speed)

globalThis.Date = class extends Real {
  constructor(...values: []) {
    if (values.length === 0) super(now())
    else super(...values)
  }
  static override now = now
} as DateConstructor

export default {
  ...worker,
  fetch(request: Request, ...context: unknown[]) {
    const setting = request.headers.get('bench-clock')
    if (setting === null) return worker.fetch(request, ...context)
    const { ahead, times } = JSON.parse(setting) as { ahead: number; times: number }
    setAt = Real.now()
    base = setAt + ahead
    speed = times
    return new Response('set')
  },
}

import { interval, median } from '../statistics.ts'
import { type Bundle, gzippedSize } from './bundle.ts'
import { sessionRequest, type Plan, formatNumber, startTarget, viewsOf } from './figures.ts'
import { runRounds } from './load.ts'
import { createCollection, createReadyTrack, createTenant } from './seed.ts'
import { startUp } from './startup.ts'
import type { System } from './system.ts'

/**
 * Compares the CPU time of the Worker in this checkout with that of the Worker in another checkout. The ratio of the two varies less than
 * absolute times do.
 */

const times = (ratios: number[]) => `${formatNumber(median(ratios))}× [${interval(ratios).map(formatNumber).join('–')}]`

/** Returns one line of text per figure. The other Worker must be able to serve plays from this checkout's database. */
export async function compare(system: System, otherBundle: Bundle, plan: Plan, say: (text: string) => void) {
  const views = await viewsOf(system, plan, say)
  const tenant = await createTenant(system)
  const track_id = await createReadyTrack(system, tenant, await createCollection(system, tenant), 1)
  const requests = {
    'play view, warm': views.requests.warm,
    'play view, session and track known': views.requests.cached,
    'play view, cold': views.requests.cold,
    'POST play_session, 1 track': sessionRequest(tenant.key, 'track', track_id),
  }
  const lines: string[] = [
    "CPU of this Worker divided by the other's: the median of all rounds, with its 95 % interval",
    '',
  ]
  const addLine = (name: string, value: string) => lines.push(`${name.padEnd(38)}${value}`)
  for (const [name, request] of Object.entries(requests)) {
    const targets = [
      await startTarget(system, 'that', request, otherBundle),
      await startTarget(system, 'this', request),
    ]
    const { value, interval: bounds } = (await runRounds(targets, plan.rounds, plan.seconds, say))('this').cpu
    addLine(name, `${formatNumber(value)}× [${bounds.map(formatNumber).join('–')}]`)
  }
  const path = views.requests.warm.path
  const starts = {
    this: { start: [] as number[], view: [] as number[] },
    that: { start: [] as number[], view: [] as number[] },
  }
  for (let round = 0; round < plan.starts; round++) {
    for (const [name, bundle] of [
      ['that', otherBundle],
      ['this', system.bundle],
    ] as const) {
      const { start, view } = await startUp(bundle, system.addresses, path, 1)
      starts[name].start.push(start)
      starts[name].view.push(view)
    }
    say(`start ${round + 1} of ${plan.starts}`)
  }
  for (const [figure, name] of [
    ['start', 'start-up of an isolate'],
    ['view', 'its first play view'],
  ] as const) {
    const ratios = starts.this[figure].map((value, round) => value / starts.that[figure][round]!)
    addLine(
      name,
      `${times(ratios)}, ${formatNumber(median(starts.this[figure]))} and ${formatNumber(median(starts.that[figure]))} ms`,
    )
  }
  addLine(
    'bundle, gzipped',
    `${formatNumber(gzippedSize(system.bundle))} and ${formatNumber(gzippedSize(otherBundle))} KB`,
  )
  return lines
}

import { interval, median } from '../statistics.ts'
import { type Bundle, gzippedSize } from './bundle.ts'
import { formatNumber, type Plan, type RequestSpec, sessionRequest, startTarget, viewsOf } from './figures.ts'
import { firstRequestsOf } from './first_requests.ts'
import { runRounds } from './load.ts'
import { createCollection, createReadyTrack, createTenant } from './seed.ts'
import { startUp } from './startup.ts'
import type { System } from './system.ts'

/**
 * Compares the CPU time of the Worker in this checkout with that of the Worker in another checkout. The ratio of the two varies less than
 * absolute times do.
 */

type Say = (text: string) => void
type Line = [name: string, value: string]

const times = (ratios: number[]) => `${formatNumber(median(ratios))}× [${interval(ratios).map(formatNumber).join('–')}]`

/** Returns the requests of the selected parts. */
async function requestsOf(system: System, plan: Plan, selected: string[], say: Say): Promise<[string, RequestSpec][]> {
  const requests: [string, RequestSpec][] = []
  if (selected.includes('play')) {
    const { warm, cached, cold } = (await viewsOf(system, plan, say)).requests
    requests.push(['play view, warm', warm], ['play view, session and track known', cached], ['play view, cold', cold])
  }
  if (selected.includes('create')) {
    const tenant = await createTenant(system)
    const track_id = await createReadyTrack(system, tenant, await createCollection(system, tenant), 1)
    requests.push(['POST play_session, 1 track', sessionRequest(tenant.key, 'track', track_id)])
  }
  return requests
}

async function compareStarts(system: System, otherBundle: Bundle, plan: Plan, say: Say): Promise<Line[]> {
  const requests = await firstRequestsOf(system)
  const [that, own] = await startUp([otherBundle, system.bundle], system.addresses, requests, plan.starts, say)
  const line = (name: string, these: number[], others: number[]): Line => {
    const ratios = these.map((value, at) => value / others[at]!)
    return [name, `${times(ratios)}, ${formatNumber(median(these))} and ${formatNumber(median(others))} ms`]
  }
  const sizes = [system.bundle, otherBundle].map((bundle) => formatNumber(gzippedSize(bundle)))
  return [
    line('start-up of an isolate', own!.starts, that!.starts),
    ...Object.keys(requests).map((kind) => line(`first ${kind}`, own!.firsts[kind]!, that!.firsts[kind]!)),
    ['bundle, gzipped', `${sizes.join(' and ')} KB`],
  ]
}

/**
 * Returns one line of text per figure of the selected parts, which are `play`, `create` and `start`. The other Worker must be able to serve plays from this
 * checkout's database.
 */
export async function compare(system: System, otherBundle: Bundle, plan: Plan, selected: string[], say: Say) {
  const lines: Line[] = []
  for (const [name, request] of await requestsOf(system, plan, selected, say)) {
    const targets = [
      await startTarget(system, 'that', request, otherBundle),
      await startTarget(system, 'this', request),
    ]
    const { value, interval: bounds } = (await runRounds(targets, plan.rounds, plan.seconds, say))('this').cpu
    lines.push([name, `${formatNumber(value)}× [${bounds.map(formatNumber).join('–')}]`])
  }
  if (selected.includes('start')) lines.push(...(await compareStarts(system, otherBundle, plan, say)))
  return [
    "CPU of this Worker divided by the other's: the median of all rounds, with its 95 % interval",
    '',
    ...lines.map(([name, value]) => name.padEnd(38) + value),
  ]
}

import { setTimeout as sleep } from 'node:timers/promises'

import { threadSeconds } from '../process.ts'
import { type Addresses, startApp, startPlain } from './app.ts'
import type { Bundle } from './bundle.ts'
import type { FirstRequest } from './first_requests.ts'
import type { Workerd } from './workerd.ts'

/** Isolates per process. With this many, the CPU time of the process itself is negligible. */
const ISOLATES = 20
const EMPTY: Bundle = { 'index.js': 'export default { fetch: () => new Response() }' }

/** CPU milliseconds per isolate, one for each round: until it has started, and then until it has answered its first request, by the kind of that request. */
export interface StartUp {
  starts: number[]
  firsts: Record<string, number[]>
}

/** Measures new isolates of each bundle in turns. For each kind of a first request, there are other isolates. */
export async function startUp(
  bundles: Bundle[],
  addresses: Addresses,
  requests: Record<string, FirstRequest>,
  rounds: number,
  say: (text: string) => void,
): Promise<StartUp[]> {
  const results = bundles.map((bundle): StartUp & { bundle: Bundle } => ({ bundle, starts: [], firsts: {} }))
  for (let round = 0; round < rounds; round++) {
    const empty = await measure(() => startPlain(EMPTY, ISOLATES), { path: '/' })
    for (const [kind, request] of Object.entries(requests)) {
      for (const { bundle, starts, firsts } of round % 2 === 0 ? results : results.toReversed()) {
        const { start, first } = await measure(() => startApp(bundle, addresses, ISOLATES), request)
        starts.push(start - empty.start)
        ;(firsts[kind] ??= []).push(first - empty.first)
      }
    }
    say(`start ${round + 1} of ${rounds}`)
  }
  return results
}

/** Returns the CPU milliseconds per isolate until the process is idle, and then until each isolate has answered one request. */
async function measure(
  start: () => Promise<Workerd>,
  { path, headers = {}, bodyOf }: FirstRequest,
): Promise<{ start: number; first: number }> {
  const workerd = await start()
  try {
    const started = await cpuWhenIdle(workerd.pid)
    for (let at = 0; at < ISOLATES; at++) {
      const init = { headers, ...(bodyOf && { method: 'POST', body: bodyOf() }) }
      const response = await fetch(`${workerd.url(String(at))}${path}`, init)
      if (!response.ok) throw new Error(`${path} answered ${response.status} ${await response.text()}`)
      await response.arrayBuffer()
    }
    const answered = await cpuWhenIdle(workerd.pid)
    return { start: (started * 1000) / ISOLATES, first: ((answered - started) * 1000) / ISOLATES }
  } finally {
    await workerd.stop()
  }
}

/** Waits until a process is idle and returns its CPU seconds. */
async function cpuWhenIdle(pid: number): Promise<number> {
  for (let before = -1; ;) {
    const now = threadSeconds(pid)
    if (now - before < 0.0005) return now
    before = now
    await sleep(50)
  }
}

import { setTimeout as sleep } from 'node:timers/promises'

import { threadSeconds } from '../process.ts'
import { median } from '../statistics.ts'
import { type Addresses, startApp, startPlain } from './app.ts'
import type { Bundle } from './bundle.ts'
import type { Workerd } from './workerd.ts'

/** Isolates per process. With this many, the CPU time of the process itself is negligible. */
const ISOLATES = 20
const EMPTY: Bundle = { 'index.js': 'export default { fetch: () => new Response() }' }

/** Returns the CPU milliseconds that an isolate takes to start, and to answer its first play view. */
export async function startUp(bundle: Bundle, addresses: Addresses, path: string, rounds: number) {
  const starts: number[] = []
  const views: number[] = []
  for (let round = 0; round < rounds; round++) {
    const empty = await measure(() => startPlain(EMPTY, ISOLATES), '/')
    const app = await measure(() => startApp(bundle, addresses, ISOLATES), path)
    starts.push(app.start - empty.start)
    views.push(app.first - empty.first)
  }
  return { start: median(starts), view: median(views), starts, views }
}

/** Returns the CPU milliseconds per isolate until the process is idle, and then until each isolate has answered one request. */
async function measure(start: () => Promise<Workerd>, path: string): Promise<{ start: number; first: number }> {
  const workerd = await start()
  try {
    const started = await cpuWhenIdle(workerd.pid)
    for (let at = 0; at < ISOLATES; at++) {
      const response = await fetch(`${workerd.url(String(at))}${path}`)
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

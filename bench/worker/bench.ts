import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

import { cpuSeconds, machineSeconds } from '../process.ts'
import { parts, type Plan } from './figures.ts'
import { startSystem, type System } from './system.ts'
import { table } from './table.ts'
import { runningPids, stopAll } from './workerd.ts'

const HELP = `npm run bench -- worker [options]

  --quick       fewer rounds and rows: half a minute less exact
  --only NAME   one part of it: ${Object.keys(parts).join(', ')}
  --json        all figures as JSON

It wants Linux and a quiet machine: ratios stand up to other programs far better than times, but not well. Counts are exact.
The exit code is 0 when every goal is met, 1 when not.`

const options = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const FULL: Plan = { rounds: 12, seconds: 1, starts: 7, cold: 3000, sessions: 1_000_000, tracks: 100_000 }
const QUICK: Plan = { rounds: 4, seconds: 0.5, starts: 3, cold: 800, sessions: 120_000, tracks: 20_000 }

/** The Worker as it is deployed, on bare workerd, beside plain Hono; and what it asks of its database. */
export const worker = {
  about: 'the API Worker beside plain Hono: CPU, throughput, D1 trips and rows, start-up',
  async run(args: string[]): Promise<void> {
    const { values } = parseArgs({ args, options })
    if (values.help) return console.log(HELP)
    const names = values.only?.split(',') ?? Object.keys(parts)
    const unknown = names.find((name) => !parts[name])
    if (unknown) throw new Error(`There is no part ${unknown}; there are ${Object.keys(parts).join(', ')}`)
    if (process.platform !== 'linux')
      throw new Error('This bench reads CPU times from /proc, so it runs on Linux only.')
    const say = (text: string) => console.error(text)
    say('Wants a quiet machine. Building and starting …')
    await withSystem(async (system) => {
      const figures = []
      const began = clocks()
      for (const name of names) figures.push(...(await parts[name]!(system, values.quick ? QUICK : FULL, say)))
      const others = shareOfOthers(began)
      console.log(values.json ? JSON.stringify({ others, figures }, null, 2) : table(figures, others))
      process.exitCode = figures.every(({ met }) => met) ? 0 : 1
    })
  },
}

/** Starts the system, lets it be used, and ends it and everything else, also on Ctrl-C. */
export async function withSystem(use: (system: System) => Promise<void>): Promise<void> {
  const end = () => void stopAll().finally(() => process.exit(130))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end)
  try {
    const system = await startSystem()
    await use(system)
    await system.stop()
  } finally {
    await stopAll()
  }
}

type Clocks = { own: number; machine: number; at: number }
const clocks = (): Clocks => ({
  own: [process.pid, ...runningPids()].reduce((sum, pid) => sum + cpuSeconds(pid), 0),
  machine: machineSeconds(),
  at: performance.now(),
})

/** Part of the machine that other programs took since then, 0–1. */
function shareOfOthers(before: Clocks): number {
  const now = clocks()
  const others = now.machine - before.machine - (now.own - before.own)
  return Math.max(0, others) / (((now.at - before.at) / 1000) * availableParallelism())
}

import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { otherCheckout } from '../checkout.ts'
import { watchOthers } from '../process.ts'
import { compare } from './against.ts'
import { bundleWorker } from './bundle.ts'
import { withCleanup } from './cleanup.ts'
import { parts, type Plan } from './figures.ts'
import { startSystem } from './system.ts'
import { othersLine, percent, table } from './table.ts'
import { runningPids } from './workerd.ts'

const HELP = `npm run bench -- worker [options]

  --quick       fewer rounds and rows: two minutes instead of six
  --only NAMES  selected parts: ${Object.keys(parts).join(', ')}
  --json        all figures as JSON
  --against DIR compares with the Worker of another checkout, after its \`npm ci\`: CPU of this one divided by the other's, in the same
                rounds and on the same database, which has this checkout's migrations

Needs Linux and a quiet machine: other programs distort ratios far less than times, but still do. Counts are exact.
The exit code is 0 if every goal is met, otherwise 1.`

const options = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  json: { type: 'boolean', default: false },
  against: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

const FULL: Plan = { rounds: 12, seconds: 1, starts: 7, cold: 4000, audience: 10_000, tracks: 1_000_000 }
const QUICK: Plan = { rounds: 4, seconds: 0.5, starts: 3, cold: 1600, audience: 1000, tracks: 20_000 }

/** Compares the Worker, built as for a deployment, with plain Hono on bare workerd, and counts its database operations. */
export const worker = {
  about: 'the API Worker compared with plain Hono: CPU, throughput, D1 trips and rows, start-up',
  async run(args: string[]): Promise<void> {
    const { values } = parseArgs({ args, options })
    if (values.help) return console.log(HELP)
    const selected = values.only?.split(',') ?? Object.keys(parts)
    const unknown = selected.find((name) => !parts[name])
    if (unknown) throw new Error(`Unknown part ${unknown}; the parts are ${Object.keys(parts).join(', ')}`)
    if (process.platform !== 'linux')
      throw new Error('This bench reads CPU times from /proc, so it runs on Linux only.')
    const against = otherCheckout(values.against)
    const say = (text: string) => console.error(text)
    const othersNow = watchOthers(() => [])
    await sleep(1000)
    say(
      `Needs a quiet machine: other programs currently use ${percent(othersNow())} of this one. Building and starting …`,
    )
    await withCleanup(async () => {
      const system = await startSystem()
      const figures = []
      const shareOfOthers = watchOthers(runningPids)
      const plan = values.quick ? QUICK : FULL
      if (against !== undefined) {
        const lines = await compare(system, await bundleWorker(against), plan, selected, say)
        return console.log([...lines, '', othersLine(shareOfOthers())].join('\n'))
      }
      for (const [name, part] of Object.entries(parts)) {
        if (selected.includes(name)) figures.push(...(await part(system, plan, say)))
      }
      const others = shareOfOthers()
      console.log(values.json ? JSON.stringify({ others, figures }, null, 2) : table(figures, others))
      process.exitCode = figures.every(({ met }) => met) ? 0 : 1
    })
  },
}

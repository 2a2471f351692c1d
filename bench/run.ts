import { cost } from './cost/bench.ts'
import { growth } from './growth/bench.ts'
import { listening } from './listening/bench.ts'
import { sound } from './sound/bench.ts'
import { studio } from './studio/bench.ts'
import { transcode } from './transcode/bench.ts'
import { upload } from './upload/bench.ts'
import { worker } from './worker/bench.ts'
import { zip } from './zip/bench.ts'

/** `npm run bench`: lists the benches. `npm run bench -- <name> [options]`: runs one. */

const benches: Record<string, { about: string; run: (args: string[]) => Promise<void> }> = {
  transcode,
  listening,
  worker,
  cost,
  upload,
  growth,
  zip,
  sound,
  studio,
}

const [name, ...args] = process.argv.slice(2)
const bench = name === undefined ? undefined : benches[name]
if (bench) {
  await bench.run(args).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  })
} else {
  const isUnknown = name !== undefined && name !== '--help'
  if (isUnknown) console.error(`Unknown bench ${name}.\n`)
  console.log('npm run bench -- <name> [--help]\n')
  for (const [benchName, { about }] of Object.entries(benches)) console.log(`  ${benchName.padEnd(9)}   ${about}`)
  process.exitCode = isUnknown ? 1 : 0
}

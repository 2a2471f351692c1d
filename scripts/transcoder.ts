import { setTimeout as sleep } from 'node:timers/promises'

import { bundleTranscoder } from '../container/bundle.ts'
import { requireFreePort } from './shared/port.ts'
import { readSettings, type Settings } from './shared/settings.ts'
import { print, printError } from './shared/terminal.ts'
import { findOrCreateDemo } from './start/demo.ts'
import { printReady } from './start/ready_message.ts'
import { startTranscoder, sweep, SWEEP_INTERVAL } from './start/service.ts'

/**
 * `npm run transcoder`: runs what a bare `wrangler dev` lacks, until Ctrl-C: the transcoder, the cron trigger, and an organization for experiments.
 */

/** Waits until the Worker and the transcoder work. Prints what it waits for. */
async function untilReady({ base_url }: Settings): Promise<void> {
  for (let printed = ''; ; await sleep(300)) {
    const response = await fetch(`${base_url}/health`, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)
    if (response?.ok) return response.body?.cancel()
    const { failing } = ((await response?.json().catch(() => undefined)) ?? {}) as { failing?: string[] }
    // An unfinished restore is continued by `npm run restore`, which needs the service.
    if (failing?.every((part) => part === 'restore')) return
    // Overdue if `wrangler dev` has run for some minutes.
    if (failing?.includes('sweep')) await sweep(base_url)
    const reason = response
      ? (failing ?? []).filter((part) => !['restore', 'sweep', 'transcoder'].includes(part)).join(' and ')
      : 'run npx wrangler dev in another terminal'
    if (reason && reason !== printed) print(`Waiting for ${base_url}: ${reason} …`)
    printed = reason
  }
}

async function run(settings: Settings): Promise<void> {
  await requireFreePort('TRANSCODER_PORT', settings.transcoderPort)
  await bundleTranscoder()
  const transcoder = startTranscoder(settings)
  let isStopping = false
  const stop = async () => {
    isStopping = true
    await transcoder.stop()
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void stop())
  void transcoder.closed.then(() => {
    if (isStopping) return
    printError(`The transcoder ended:\n\n${transcoder.tail.join('\n')}`)
    process.exit(1)
  })
  await untilReady(settings)
  await findOrCreateDemo(settings).then(
    (demo) => printReady(settings, demo, 'the transcoder'),
    (error: Error) => printError(error.message),
  )
  for (;;) {
    await sweep(settings.base_url)
    await sleep(SWEEP_INTERVAL)
  }
}

run(readSettings()).catch((error: Error) => {
  printError(error.message)
  process.exitCode = 1
})

import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { buildPublic } from './build.ts'
import type { Child } from './child.ts'
import { findOrCreateDemo } from './demo.ts'
import { lockState, requireFreeState } from './lock_state.ts'
import { complain, dim, say } from './log.ts'
import { watchParents } from './parent.ts'
import { requireFreePort } from './port.ts'
import { report } from './report.ts'
import { startMigration, startTranscoder, startWorker } from './service.ts'
import { readSettings, type Settings } from './settings.ts'

/**
 * `npm start`: the whole system on this machine, until Ctrl-C (docs/architecture.md#commands).
 * What may be set is in settings.ts.
 */

const READY_TIMEOUT = 90_000
const SWEEP_INTERVAL = 10_000
const RESTART_DELAY = 1000

const children = new Set<Child>()
let stopping = false
let stoppingSince = 0
const isStopping = () => stopping

// Should we be killed with SIGKILL, the keeper ends our children.
const keeper = spawn(process.execPath, [join(import.meta.dirname, 'keeper.ts')], {
  detached: true,
  stdio: ['pipe', 'ignore', 'inherit'],
})
keeper.stdin.on('error', () => {})

function keep(child: Child): Child {
  children.add(child)
  keeper.stdin.write(`+${child.pid}\n`)
  void forget(child)
  return child
}

async function forget(child: Child): Promise<void> {
  await child.exited
  // What it started itself may be left.
  await child.stop()
  children.delete(child)
  keeper.stdin.write(`-${child.pid}\n`)
}

async function stop(code: number): Promise<void> {
  if (stopping) {
    // A second Ctrl-C: leave the rest to the keeper. (One Ctrl-C can arrive twice at once: npm passes it on, too.)
    if (Date.now() - stoppingSince > 1000) process.exit(1)
    return
  }
  stopping = true
  stoppingSince = Date.now()
  if (code === 0) say('\nStopping …')
  await Promise.all([...children].map((child) => child.stop()))
  process.exit(code)
}

function fail(error: unknown): void {
  if (stopping) return
  complain(error instanceof Error ? error.message : String(error))
  void stop(1)
}

async function migrate(settings: Settings): Promise<void> {
  const migration = keep(startMigration(settings))
  const code = await migration.exited
  if (code !== 0)
    throw new Error(`The database cannot be brought up to date (${code}):\n\n${migration.tail.join('\n')}`)
}

/** Starts the transcoder, and starts it again whenever it dies. */
async function runTranscoder(settings: Settings): Promise<void> {
  for (let delay = RESTART_DELAY; !isStopping(); delay = Math.min(delay * 2, 15_000)) {
    const began = Date.now()
    const transcoder = keep(startTranscoder(settings))
    process.send?.({ transcoder: transcoder.pid })
    const code = await transcoder.exited
    if (stopping) return
    // Another start would fail as well (container/service/server.ts).
    if (code === 2) {
      await transcoder.closed
      const { message } = JSON.parse(transcoder.tail.at(-1) ?? '{}') as { message?: string }
      throw new Error(`The transcoder cannot run: ${message}`)
    }
    if (Date.now() - began > 30_000) delay = RESTART_DELAY
    say(`The transcoder ended (${code}); it starts again in ${delay / 1000} s. ${dim(transcoder.tail.at(-1) ?? '')}`)
    await transcoder.stop()
    await sleep(delay)
  }
}

async function runWorker(settings: Settings): Promise<void> {
  const worker = keep(startWorker(settings))
  process.send?.({ worker: worker.pid })
  const code = await worker.exited
  if (!stopping) throw new Error(`wrangler dev ended (${code}):\n\n${worker.tail.join('\n')}`)
}

async function waitUntilReady({ base_url }: Settings): Promise<void> {
  let last = 'no answer'
  for (const deadline = Date.now() + READY_TIMEOUT; Date.now() < deadline; await sleep(200)) {
    try {
      const response = await fetch(`${base_url}/health`, { signal: AbortSignal.timeout(5000) })
      last = `${response.status} ${await response.text()}`
      if (response.ok) return
      // While this machine was off, nobody swept.
      if (last.includes('"sweep"')) await sweep(base_url)
    } catch {
      // Not listening yet.
    }
  }
  const tails = [...children].flatMap((child) => child.tail).join('\n')
  throw new Error(`Not ready after ${READY_TIMEOUT / 1000} s; GET /health: ${last}\n\n${tails}`)
}

/** Wrangler fires no cron triggers locally. */
const sweep = (base_url: string) =>
  fetch(`${base_url}/cdn-cgi/local/scheduled?cron=*+*+*+*+*`, { signal: AbortSignal.timeout(60_000) })
    .then((response) => response.text())
    .catch(() => {})

async function sweepForever({ base_url }: Settings): Promise<void> {
  for (; !isStopping(); await sleep(SWEEP_INTERVAL)) await sweep(base_url)
}

async function start(): Promise<void> {
  const settings = readSettings()
  await requireFreeState(settings.stateDir)
  await requireFreePort('PORT', settings.port)
  await requireFreePort('TRANSCODER_PORT', settings.transcoderPort)
  mkdirSync(settings.stateDir, { recursive: true })
  lockState(settings.stateDir, settings.base_url)
  say('Starting …')
  // First, because it says within a second when it cannot run.
  runTranscoder(settings).catch(fail)
  await Promise.all([buildPublic(), migrate(settings)])
  if (stopping) return
  runWorker(settings).catch(fail)
  await waitUntilReady(settings)
  const demo = await findOrCreateDemo(settings)
  if (stopping) return
  report(settings, demo)
  process.send?.({ ready: { base_url: settings.base_url, ...demo } })
  await sweepForever(settings)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0))
process.on('uncaughtException', fail)
watchParents(() => void stop(0))
start().catch(fail)

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { bundleTranscoder } from '../container/bundle.ts'
import type { Child } from './shared/child_process.ts'
import { freePort, requireFreePort } from './shared/port.ts'
import { readSettings, type Settings } from './shared/settings.ts'
import { printError, dim, print } from './shared/terminal.ts'
import { findOrCreateDemo } from './start/demo.ts'
import { watchParents } from './start/parent_watch.ts'
import { printReady } from './start/ready_message.ts'
import { startMigration, startTranscoder, startWorker, sweep, SWEEP_INTERVAL } from './start/service.ts'
import { explainDatabaseFault } from './start/state_faults.ts'
import { lockState } from './start/state_lock.ts'
import { createWatchdog, READY_TIMEOUT, type Watchdog } from './start/watchdog.ts'

/**
 * `npm start`: runs the whole system on this machine until Ctrl-C (docs/architecture.md#commands). shared/settings.ts lists its settings.
 */

const RESTART_DELAY = 1000

const children = new Set<Child>()
let stopping = false
let stoppingSince = 0
const isStopping = () => stopping

// The keeper is a process that stops the children if this process crashes or is killed with SIGKILL.
const keeper = spawn(process.execPath, [join(import.meta.dirname, 'start/child_reaper.ts')], {
  detached: true,
  stdio: ['pipe', 'ignore', 'inherit'],
})
keeper.stdin.on('error', () => {})

function register(child: Child): Child {
  children.add(child)
  keeper.stdin.write(`+${child.pid}\n`)
  void unregister(child)
  return child
}

async function unregister(child: Child): Promise<void> {
  await child.exited
  // Children of the process that exited may still be running.
  await child.stop()
  children.delete(child)
  keeper.stdin.write(`-${child.pid}\n`)
}

async function stop(code: number): Promise<void> {
  if (stopping) {
    // After a second Ctrl-C, this process exits and the keeper stops the children. npm forwards Ctrl-C, so a signal within a second is a
    // repetition of the first.
    if (Date.now() - stoppingSince > 1000) process.exit(1)
    return
  }
  stopping = true
  stoppingSince = Date.now()
  if (code === 0) print('\nStopping …')
  await Promise.all([...children].map((child) => child.stop()))
  process.exit(code)
}

function fail(error: unknown): void {
  if (stopping) return
  printError(error instanceof Error ? error.message : String(error))
  void stop(1)
}

async function migrate(settings: Settings): Promise<void> {
  const migration = startMigration(settings)
  if (!migration) return
  register(migration)
  const code = await migration.exited
  await migration.closed
  if (code !== 0) throw new Error(explainDatabaseFault(settings.stateDir, migration.tail))
}

/** Builds the web pages. The modules for that are loaded only if they are used, because they take half of the time in this process. */
async function build(): Promise<void> {
  const { buildPublic } = await import('./build.ts')
  await buildPublic()
}

let isReady = false
let watchdog: Watchdog

const whenUnresponsive = (child: Child) =>
  watchdog.whenUnresponsive(
    child.pid,
    () => children.has(child),
    () => print('The worker does not answer, but it is busy; it is not restarted.'),
  )

/** Starts a child and restarts it whenever it ends. Throws if it ends before the system is ready. */
async function keepRunning(name: 'transcoder' | 'worker', spawnChild: () => Child): Promise<void> {
  for (let delay = RESTART_DELAY; !isStopping(); delay = Math.min(delay * 2, 15_000)) {
    const startedAt = Date.now()
    const child = register(spawnChild())
    process.send?.({ [name]: child.pid })
    const ending = await (name === 'worker' ? Promise.race([child.exited, whenUnresponsive(child)]) : child.exited)
    if (stopping) return
    await Promise.all([child.stop(), child.closed])
    // Exit code 2 means that a restart would also fail (container/service/server.ts).
    if (name === 'transcoder' && ending === 2) {
      const { message } = JSON.parse(child.tail.at(-1) ?? '{}') as { message?: string }
      throw new Error(`The ${name} cannot run: ${message}`)
    }
    if (!isReady) throw new Error(`The ${name} does not start (${ending}):\n\n${child.tail.join('\n')}`)
    if (Date.now() - startedAt > 30_000) delay = RESTART_DELAY
    print(`The ${name} ended (${ending}); it starts again in ${delay / 1000} s. ${dim(child.tail.at(-1) ?? '')}`)
    await sleep(delay)
  }
}

async function waitUntilReady({ base_url }: Settings): Promise<void> {
  let lastAnswer = 'no answer'
  for (const deadline = Date.now() + READY_TIMEOUT; Date.now() < deadline; await sleep(200)) {
    try {
      const response = await fetch(`${base_url}/health`, { signal: AbortSignal.timeout(5000) })
      const text = await response.text()
      lastAnswer = `${response.status} ${text}`
      if (response.ok) watchdog.answered()
      const { failing = [] } = JSON.parse(text) as { failing?: string[] }
      // An unfinished restore is continued by `npm run restore`, which needs the service.
      if (response.ok || failing.join() === 'restore') return
      // The service reports an overdue sweep if the machine was off. In that case, run it now.
      if (failing.includes('sweep')) await sweep(base_url)
    } catch {
      // The Worker is not listening yet, or its response is not JSON.
    }
  }
  const tails = [...children].flatMap((child) => child.tail).join('\n')
  throw new Error(`Not ready after ${READY_TIMEOUT / 1000} s; GET /health: ${lastAnswer}\n\n${tails}`)
}

async function sweepForever({ base_url }: Settings): Promise<void> {
  for (; !isStopping(); await sleep(SWEEP_INTERVAL)) await sweep(base_url)
}

async function start(): Promise<void> {
  const settings = readSettings()
  watchdog = createWatchdog(`${settings.base_url}/health`)
  lockState(settings.stateDir, settings.base_url)
  await requireFreePort('PORT', settings.port)
  await requireFreePort('TRANSCODER_PORT', settings.transcoderPort)
  print('Starting …')
  const isBuilt = Boolean(process.env.TONEARM_BUILT)
  if (!isBuilt) await bundleTranscoder()
  // The transcoder starts first, because it reports within a second if it cannot run.
  const inspectorPort = await freePort()
  keepRunning('transcoder', () => startTranscoder(settings, [settings.port, inspectorPort])).catch(fail)
  await Promise.all([isBuilt ? undefined : build(), migrate(settings)])
  if (stopping) return
  keepRunning('worker', () => startWorker(settings, inspectorPort, watchdog.crashed)).catch(fail)
  await waitUntilReady(settings)
  const demo = settings.isEmpty ? undefined : await findOrCreateDemo(settings)
  if (stopping) return
  isReady = true
  await printReady(settings, demo)
  process.send?.({ ready: { base_url: settings.base_url, ...demo } })
  await sweepForever(settings)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0))
process.on('uncaughtException', fail)
watchParents(() => void stop(0))
start().catch(fail)

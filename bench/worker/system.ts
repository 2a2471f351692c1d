import { join } from 'node:path'

import { MIGRATIONS_TABLE, readMigrations } from '../../scripts/shared/migrations.ts'
import { type Addresses, ROOT_KEY, startCounted } from './app.ts'
import { bundleScript, bundleWorker } from './bundle.ts'
import { startMeter } from './meter.ts'
import { type Simulator, startSimulator } from './simulator.ts'
import { startTranscoder } from './transcoder.ts'

/**
 * The environment of the Worker benches. It contains the simulators with the migrated database, and the counted Worker, whose requests are
 * counted and whose clock and queues the bench controls. Timed Workers use addresses that bypass the meter.
 */

/** Number of rows that every cron tick writes, even if there is no work. */
const HEARTBEAT = 1
const MIGRATIONS = join(import.meta.dirname, '../../drizzle')
/** Speed factor of the clock while a job runs. */
const CLOCK_SPEED = 20
const MAX_TICKS = 100

export async function startSystem() {
  const [bundle, clock, driver] = await Promise.all([
    bundleWorker(),
    bundleScript('clock.ts', 'clock.js', ['./index.js']),
    bundleScript('driver.ts', 'driver.js'),
  ])
  const simulator = await startSimulator()
  await migrate(simulator)
  const meter = await startMeter(simulator.url('d1'), simulator.url('r2'))
  const transcoder = await startTranscoder(CLOCK_SPEED)
  const directAddresses: Addresses = {
    d1: simulator.url('d1'),
    r2: simulator.url('r2'),
    queue: meter.queue,
    transcoder: transcoder.url,
  }
  const counted = await startCounted(
    { ...clock, ...bundle },
    driver,
    { ...directAddresses, ...meter },
    simulator.url('r2'),
  )

  const drive = async (path: string, body: unknown) => {
    const response = await fetch(`${counted.url('driver')}${path}`, { method: 'POST', body: JSON.stringify(body) })
    const answer = (await response.json()) as { outcome: string; retryMessages?: unknown[] } | null
    if (answer?.outcome === 'exception' || answer?.retryMessages?.length) {
      throw new Error(`${path} went wrong: ${JSON.stringify(answer)}`)
    }
  }
  const setClock = async (setting: { ahead: number; times: number }) => {
    await (await fetch(counted.url('0'), { headers: { 'bench-clock': JSON.stringify(setting) } })).text()
  }

  /** Calls the API of the counted Worker. Throws if the request fails. */
  async function call<T = Record<string, unknown>>(method: string, path: string, key = '', body?: object): Promise<T> {
    const headers = {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(body && { 'content-type': 'application/json' }),
    }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const response = await fetch(`${counted.url('0')}${path}`, init)
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status} ${text}`)
    return JSON.parse(text) as T
  }

  /** Opens a page as a browser that shows it. */
  async function open(path: string): Promise<string> {
    const response = await fetch(`${counted.url('0')}${path}`, { headers: { 'sec-fetch-dest': 'document' } })
    if (!response.ok) throw new Error(`${path} answered ${response.status}`)
    return response.text()
  }

  async function withClock<T>(setting: { ahead: number; times: number }, run: () => Promise<T>): Promise<T> {
    await setClock(setting)
    const result = await run()
    await setClock({ ahead: 0, times: 1 })
    return result
  }
  const tick = () => drive('/cron', null)

  return {
    bundle,
    simulator,
    meter,
    transcoder,
    addresses: directAddresses,
    call,
    open,
    root: ROOT_KEY,
    /** Process id of the counted Worker. */
    pid: counted.pid,
    putObject: (key: string, bytes: string) => drive(`/object/${encodeURIComponent(key)}`, bytes),
    /** Delivers a message to its consumer, and then all messages that result from it. */
    async deliver(queue: string, body: unknown) {
      await drive(`/queue/${queue}`, body)
      for (let next = meter.messages.shift(); next; next = meter.messages.shift()) {
        await drive(`/queue/${next.queue}`, next.body)
      }
    },
    /** Runs one cron tick. */
    tick,
    /** Sets the clock forward by `ahead` milliseconds, and runs cron ticks until one finds no work. */
    sweep: (ahead: number) =>
      withClock({ ahead, times: 1 }, async () => {
        let ticks = 1
        const counts = await meter.during(async () => {
          for (; (await meter.during(tick)).written > HEARTBEAT; ticks++) {
            if (ticks === MAX_TICKS) throw new Error(`the sweep still writes after ${ticks} ticks`)
          }
        })
        // The bench does not measure the jobs of these messages, so they are dropped.
        meter.messages.length = 0
        return { ...counts, written: counts.written - ticks * HEARTBEAT }
      }),
    /** Runs a function with the clock set back by some milliseconds. */
    ago: <T>(milliseconds: number, run: () => Promise<T>) => withClock({ ahead: -milliseconds, times: 1 }, run),
    /** Runs a function while the Worker's clock runs as fast as that of the fake transcoder. */
    withFastClock: <T>(run: () => Promise<T>) => withClock({ ahead: 0, times: CLOCK_SPEED }, run),
  }
}

export type System = Awaited<ReturnType<typeof startSystem>>

async function migrate({ query }: Simulator): Promise<void> {
  await query(MIGRATIONS_TABLE)
  for (const { name, sql } of readMigrations(MIGRATIONS)) {
    for (const part of sql.split('--> statement-breakpoint')) {
      const statement = part.replace(/^--.*$/gm, '').trim()
      if (statement) await query(statement)
    }
    // The sweep runs only in a database that has every migration.
    await query('insert into d1_migrations (name) values (?)', name)
  }
}

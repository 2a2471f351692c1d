import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import type { BackupAnswers, BackupRequest } from '../../src/contract/backup.ts'
import { readSettings } from '../shared/settings.ts'

/** An error that the operator can fix. */
export class Fault extends Error {}

/** Milliseconds during which a request is repeated while the service or the storage does not respond. */
const PATIENCE = 120_000

/** The service that is backed up or restored. */
export interface Service {
  base_url: string
  /** Whether it is the `npm start` of this checkout. */
  isLocal: boolean
  /** If set, every action is limited to this organization. */
  organization_id?: string
  /** Calls `POST /v1/system/backup`. Every action may be repeated, so transient failures are. */
  call<A extends BackupRequest['action']>(
    action: A,
    input: Omit<Extract<BackupRequest, { action: A }>, 'action'>,
  ): Promise<BackupAnswers[A]>
}

/** Opens a service with the root key; with an organization, for an export or an import of it. */
export function openService(url: string | undefined, organization_id?: string): Service {
  const settings = url ? undefined : readSettings()
  const base_url = (url ?? settings!.base_url).replace(/\/+$/, '')
  const root_key = process.env.ROOT_KEY || settings?.secrets.ROOT_KEY
  if (!root_key) throw new Fault('Set ROOT_KEY in the environment: the root key of the service')
  return {
    base_url,
    isLocal: !url,
    ...(organization_id && { organization_id }),
    async call(action, input) {
      const init = {
        method: 'POST',
        headers: { authorization: `Bearer ${root_key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ action, ...(organization_id && { organization_id }), ...input }),
      }
      const response = await patiently(`${base_url}/v1/system/backup`, () => init, false)
      const answer = (await response.json().catch(() => null)) as { ok?: boolean; code?: string; message?: string }
      if (answer?.ok) return answer as never
      if (response.status === 404)
        throw new Fault(`${base_url} does not know POST /v1/system/backup: deploy this version first`)
      throw new Fault(`${base_url}: ${response.status} ${answer?.code ?? ''} ${answer?.message ?? 'without a message'}`)
    },
  }
}

/** Whether a later request may succeed. A storage responds with 500 to a transient fault, but the service only to a permanent one. */
const isTransient = (status: number, isStorage: boolean) =>
  [429, 502, 503, 504].includes(status) || (status === 500 && isStorage)

/**
 * Sends a request until it has a response that is not a transient failure. `init` is called for each attempt, so that a body can be read again.
 * Throws after two minutes without such a response.
 */
export async function patiently(
  url: string,
  init: () => RequestInit & { duplex?: 'half' },
  isStorage = true,
): Promise<Response> {
  const deadline = Date.now() + PATIENCE
  for (let pause = 500; ; pause = Math.min(pause * 2, 10_000)) {
    let problem: string
    try {
      const response = await fetch(url, init())
      if (!isTransient(response.status, isStorage)) return response
      problem = `${response.status} ${(await response.text()).slice(0, 200)}`
      pause = Math.max(pause, Number(response.headers.get('retry-after')) * 1000 || 0)
    } catch (error) {
      const { cause, message } = error as Error
      problem = cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : message
    }
    if (Date.now() + pause > deadline) {
      const { origin, pathname } = new URL(url)
      throw new Fault(
        `No answer from ${origin}${pathname} for two minutes: ${problem}\nRun the same command again; it continues.`,
      )
    }
    await sleep(pause)
  }
}

/** Parses the arguments of a command; prints the usage and exits with 2 if they are wrong. */
export function readOptions<const O extends Record<string, { type: 'string' | 'boolean' }>>(
  options: O,
  usage: string,
  args = process.argv.slice(2),
) {
  try {
    return parseArgs({ options, args }).values
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    process.exit(2)
  }
}

/** Runs a command. Prints a fault without its stack. */
export async function runCommand(run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    console.error(`\nFAILED: ${error.message}`)
    process.exitCode = 1
  }
}

/** Returns a function that prints a line at most once a second, for the progress of long steps. */
export function progressPrinter(): (line: () => string) => void {
  let printedAt = Date.now()
  return (line) => {
    if (Date.now() - printedAt < 1000) return
    printedAt = Date.now()
    console.log(line())
  }
}

/** Formats bytes with a decimal unit. */
export function bytesText(bytes: number): string {
  const [size, unit] = bytes < 1e6 ? [bytes / 1e3, 'kB'] : bytes < 1e9 ? [bytes / 1e6, 'MB'] : [bytes / 1e9, 'GB']
  return `${size.toFixed(size < 10 ? 1 : 0)} ${unit}`
}

/** Runs a function for each item, a number of them at the same time. Waits for the running ones before it throws. */
export async function forEachAtOnce<T>(items: readonly T[], atOnce: number, run: (item: T) => Promise<void>) {
  const queue = items.values()
  let failed = false
  const worker = async () => {
    for (const item of queue) {
      if (failed) return
      try {
        await run(item)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  const results = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  const failure = results.find((result) => result.status === 'rejected')
  if (failure) throw failure.reason
}

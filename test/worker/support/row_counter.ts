import { AsyncLocalStorage } from 'node:async_hooks'

import { env } from 'cloudflare:workers'
import { expect, vi } from 'vitest'

import worker from '../../../src/index.ts'
import { call } from './api.ts'

interface Meta {
  meta?: { rows_read?: number; rows_written?: number }
}
// The first use of a key sends a message, which can arrive at any time. The rows that record this use are not counted for any request.
const recordingUse = new AsyncLocalStorage<boolean>()
const deliver = worker.queue
worker.queue = (batch, ...rest) =>
  recordingUse.run(
    batch.messages.every(({ body }) => Object.hasOwn(body as object, 'api_key_id')),
    () => deliver(batch, ...rest),
  )

const zero = { read: 0, written: 0, statements: 0, trips: 0 }
const total = { ...zero }
const ofRun = new AsyncLocalStorage<typeof total>()

// Drizzle's selects hide D1's `meta`, so `meta` is read in the function that all statements of all bindings use (docs/architecture.md#d1).
const session = Object.getPrototypeOf(env.DB.withSession()) as {
  _send: (...args: unknown[]) => Promise<Meta | Meta[]>
}
const send = session._send
let onRequest: (args: unknown[]) => void = () => undefined
session._send = async function metered(...args) {
  onRequest(args)
  const result = await send.apply(this, args)
  if (recordingUse.getStore()) return result
  for (const count of [total, ofRun.getStore() ?? { ...zero }]) {
    count.trips++
    for (const { meta } of [result].flat()) {
      count.statements++
      count.read += meta?.rows_read ?? 0
      count.written += meta?.rows_written ?? 0
    }
  }
  return result
}

/** Counts the rows that D1 read and wrote in `run` itself, and the round trips. Queues and Durable Objects are not included. Calls may be nested. */
export async function countRows<T>(run: () => Promise<T>) {
  const rows = { ...zero }
  const outer = ofRun.getStore()
  const result = await ofRun.run(rows, run)
  if (outer) for (const name of Object.keys(zero) as (keyof typeof zero)[]) outer[name] += rows[name]
  return { ...rows, result }
}

/** Counts like `countRows` for one request that succeeds, including its authentication. */
export async function countCallRows(...args: Parameters<typeof call>) {
  const { result, ...rows } = await countRows(() => call(...args))
  expect(result.status, `${args[0]} ${args[1]} answered ${JSON.stringify(result.body)}`).toBe(200)
  return { ...rows, body: result.body }
}

/** Counts like `countRows`, but includes all background work while `run` runs. */
export async function countAllRows<T>(run: () => Promise<T>) {
  const before = { ...total }
  const result = await run()
  return {
    read: total.read - before.read,
    written: total.written - before.written,
    statements: total.statements - before.statements,
    trips: total.trips - before.trips,
    result,
  }
}

/** Counts the requests to D1 whose text contains `part`, from now on until the next call. Unlike `countAllRows`, it ignores other background work. */
export function countRequestsWith(part: string) {
  const count = { requests: 0 }
  onRequest = (args) => void (JSON.stringify(args).includes(part) && count.requests++)
  return count
}

export interface SentStatement {
  sql: string
  params: unknown[]
}

/** Returns the list of all statements that are sent to D1 from now on until the next call of this function or of `countRequestsWith`. */
export function recordStatements(): SentStatement[] {
  const sent: SentStatement[] = []
  onRequest = ([, sql, params]) => {
    if (typeof sql === 'string') sent.push({ sql, params: params as unknown[] })
    else
      for (const [at, one] of (sql as string[]).entries()) sent.push({ sql: one, params: (params as unknown[][])[at]! })
  }
  return sent
}

/** Resolves when no background work that would be counted is running. */
export const untilIdle = () =>
  vi.waitUntil(async () => (await countAllRows(() => scheduler.wait(40))).statements === 0, { timeout: 10_000 })

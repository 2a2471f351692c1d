import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { MIGRATIONS_TABLE, readMigrations } from '../../scripts/shared/migrations.ts'
import { DAY, MINUTE } from '../../src/contract/time.ts'
import { ROOT_KEY, startStored } from '../worker/app.ts'
import { bundleScript, bundleWorker } from '../worker/bundle.ts'
import { onEnd } from '../worker/cleanup.ts'
import { startMeter } from '../worker/meter.ts'
import { startSimulator } from '../worker/simulator.ts'
import type { Workerd } from '../worker/workerd.ts'
import { type createRecount, DURATION } from './audience.ts'

/** The Worker with its object and its database, a library of tracks, and the comparison of the sums with a recount. */

/** Number of sessions. Each may start 1,200 visits a minute. */
export const SESSIONS = 100
/** Maximum megabytes of the heap. V8 ends if it needs more. */
export const HEAP = 100
/** Number of tracks that are compared one by one. */
const COMPARED = 20_000

export async function startServices() {
  const simulator = await startSimulator()
  await simulator.query(MIGRATIONS_TABLE)
  for (const { name, sql } of readMigrations(join(import.meta.dirname, '../../drizzle'))) {
    for (const part of sql.split('--> statement-breakpoint')) {
      const statement = part.replace(/^--.*$/gm, '').trim()
      if (statement) await simulator.query(statement)
    }
    await simulator.query('insert into d1_migrations (name) values (?)', name)
  }
  const meter = await startMeter(simulator.url('d1'), simulator.url('r2'))
  const directory = await mkdtemp(join(tmpdir(), 'tonearm-bench-objects-'))
  onEnd(() => rm(directory, { recursive: true, force: true }))
  const bundle = {
    ...(await bundleScript('../listening/entry.ts', 'entry.js', ['./index.js'])),
    ...(await bundleWorker()),
  }
  const addresses = { d1: simulator.url('d1'), r2: simulator.url('r2'), queue: meter.queue, transcoder: meter.queue }
  return { simulator, start: () => startStored(bundle, addresses, directory, HEAP) }
}

export type Services = Awaited<ReturnType<typeof startServices>>

async function post(workerd: Workerd, path: string, key: string, body: object) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(`${workerd.url('0')}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path} answered ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, string>
}

/** Creates an organization with so many tracks, and returns it. */
export async function createTracks({ simulator }: Services, workerd: Workerd, count: number) {
  const { organization_id, secret } = await post(workerd, '/v1/organization', ROOT_KEY, { name: 'Bench' })
  const { collection_id } = await post(workerd, '/v1/collection', secret!, { title: 'Kind of Blue' })
  const { track_id } = await post(workerd, '/v1/track', secret!, { collection_id, file_name: 'a.mp3' })
  const columns = (await simulator.query('pragma table_info(tracks)')).map(({ name }) => String(name))
  const values = columns.map((name) =>
    name === 'id'
      ? `substr(id, 1, 24) || printf('%012x', i)`
      : name === 'order'
        ? '"order" + i'
        : name === 'duration'
          ? String(DURATION)
          : `"${name}"`,
  )
  const names = columns.map((name) => `"${name}"`).join(', ')
  for (let from = 1; from <= count; from += 20_000)
    await simulator.query(`with recursive n(i) as (select ${from} union all select i + 1 from n where i < ${Math.min(count, from + 19_999)})
      insert into tracks (${names}) select ${values.join(', ')} from tracks, n where id = '${track_id}'`)
  const ids = Array.from(
    { length: count },
    (_, at) => `${track_id!.slice(0, 24)}${(at + 1).toString(16).padStart(12, '0')}`,
  )
  return { organization_id: organization_id!, collection_id: collection_id!, key: secret!, ids }
}

export type Library = Awaited<ReturnType<typeof createTracks>>

/** Returns the paths of sessions that were created an hour before the clock of the Worker, which is `ahead` milliseconds ahead. */
export async function pathsOf(workerd: Workerd, { key, collection_id }: Library, ahead: number): Promise<string[]> {
  await bench(workerd, { ahead: String(ahead - 60 * MINUTE) })
  const create = () => post(workerd, '/v1/play_session/collection', key, { collection_id })
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, create))
  await bench(workerd, { ahead: String(ahead) })
  return sessions.map(({ heard_token }) => `/v1/heard/${heard_token}`)
}

/** Calls a method of an object, or sets the clock (entry.ts). */
export async function bench(workerd: Workerd, query: Record<string, string>) {
  const response = await fetch(`${workerd.url('0')}/bench?${new URLSearchParams(query).toString()}`)
  if (!response.ok) throw new Error(`/bench answered ${response.status} ${await response.text()}`)
  return (await response.json()) as { written: number; read: number; active: number; result: unknown }
}

/** Compares the sums of the object with the recount. Returns the differences. */
export async function compare(
  workerd: Workerd,
  { organization_id: organization, ids }: Library,
  recount: ReturnType<typeof createRecount>,
  ahead: number,
) {
  const today = Math.floor((Date.now() + ahead) / DAY)
  const days = { from: today - 3, to: today }
  const call = async (method: string, query: object) =>
    (await bench(workerd, { organization, method, parameters: JSON.stringify([{ ...query, ...days }]) })).result
  const result = (await call('stats', { scope: 'organization', id: organization, by: 'day' })) as {
    totals: number[]
    refused: object
  }
  const differences: string[] = []
  const check = (name: string, found: number[], expected: number[]) => {
    const [a, b] = [found, expected].map((counts) =>
      JSON.stringify(Array.from({ length: 4 }, (_, at) => counts[at] ?? 0)),
    )
    if (a !== b) differences.push(`${name}: ${a}, not ${b}`)
  }
  check('organization', result.totals, recount.totals)
  if (Object.keys(result.refused).length > 0) differences.push(`refused: ${JSON.stringify(result.refused)}`)
  for (let at = 0; at < Math.min(ids.length, COMPARED); at += 100) {
    const some = ids.slice(at, at + 100)
    const found = new Map((await call('counts', { scope: 'track', ids: some })) as [string, number[]][])
    for (const id of some) check(id, found.get(id) ?? [], recount.tracks.get(id) ?? [])
  }
  return { differences, plays: result.totals[0]! }
}

/** Prints a figure. A missed goal fails the bench. */
export const line = (name: string, value: string, isMet = true) => {
  console.log(`${name.padEnd(44)}${value}${isMet ? '' : '   MISSED'}`)
  if (!isMet) process.exitCode = 1
}

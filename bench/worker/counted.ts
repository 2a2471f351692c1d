import { DAY, HOUR } from '../../src/contract/time.ts'
import type { Counts } from './meter.ts'
import {
  createCollection,
  createReadyTrack,
  createSession,
  createShare,
  createTrack,
  copyRows,
  renewSession,
  type Tenant,
  tableOf,
  viewPath,
} from './seed.ts'
import type { System } from './system.ts'

/** Figures that are counted and not timed, so that the load of the machine does not affect them. */

/** Returns the maximum of each count over several requests. */
async function maxCounts(system: System, requests: (() => Promise<unknown>)[]): Promise<Counts> {
  const counts: Counts[] = []
  for (const request of requests) counts.push(await system.meter.during(request))
  const names = Object.keys(counts[0]!) as (keyof Counts)[]
  return Object.fromEntries(names.map((name) => [name, Math.max(...counts.map((count) => count[name]))])) as Counts
}

/** Counts the operations of a play view that was requested before. */
export async function countWarm(system: System, path: string): Promise<Counts> {
  await system.call('GET', path)
  return maxCounts(
    system,
    Array.from({ length: 10 }, () => () => system.call('GET', path)),
  )
}

/**
 * Returns the maximum counts of play views that are requested for the first time. The paths in `first` are requested before the
 * measurement.
 */
export async function countViews(system: System, paths: string[], first: string[] = []): Promise<Counts> {
  for (const path of first) await system.call('GET', path)
  return maxCounts(
    system,
    paths.map((path) => () => system.call('GET', path)),
  )
}

/** Counts the operations of `POST /v1/play_session` with a cached key. */
export async function countCreate(
  system: System,
  tenant: Tenant,
  scope: 'track' | 'collection',
  id: string,
): Promise<Counts> {
  const create = () => createSession(system, tenant, scope, id)
  await create()
  return maxCounts(system, [create, create, create])
}

/**
 * Returns the rows that listeners of a share with one track write. Every second one opens its page, the others its frame. Each player renews its session and
 * reads two play views.
 */
export async function countAudience(system: System, tenant: Tenant, listeners: number): Promise<number> {
  const collection_id = await createCollection(system, tenant)
  const track_id = await createReadyTrack(system, tenant, collection_id, 1)
  const { slug, visit } = await createShare(system, tenant, collection_id)
  const { written } = await system.meter.during(async () => {
    for (let at = 0; at < listeners; at++)
      for (const id of [
        await visit(at % 2 === 0 ? `/s/${slug}` : `/embed/s/${slug}`),
        await renewSession(system, slug, collection_id),
      ])
        await system.call('GET', viewPath(id, track_id))
  })
  return written
}

/** Counts the operations of a track from its `POST` until it is ready. Its job takes `seconds`. */
export async function countReady(
  system: System,
  tenant: Tenant,
  collection_id: string,
  seconds: number,
): Promise<Counts> {
  return system.meter.during(() => createReadyTrack(system, tenant, collection_id, seconds))
}

/**
 * Returns the number of rows that are written per session, from its `POST` until the sweep deletes it. Some rows are written only once an
 * hour, so the result is computed from the difference between a run with few and a run with many sessions.
 */
export async function countSessionLifecycle(system: System, tenant: Tenant, track_id: string): Promise<number> {
  const [few, many] = [20, 60]
  const life = async (sessions: number) => {
    const made = await system.meter.during(async () => {
      for (let at = 0; at < sessions; at++) await createSession(system, tenant, 'track', track_id)
    })
    const swept = await system.sweep(2 * DAY)
    return made.written + swept.written
  }
  // The first run sweeps the existing rows and creates the usage row of the day.
  await life(1)
  const rows = [await life(few), await life(many)] as const
  return (rows[1] - rows[0]) / (many - few)
}

const ENDED = 1_000_000
/** Maximum number of cron ticks to run. The total is extrapolated from them. */
const MAX_TICKS = 20

/**
 * Counts the minutes until a million sessions are deleted, with one cron tick per minute. The sessions have ended over the course of a day.
 */
export async function countSweep(system: System, tenant: Tenant, track_id: string) {
  const hours = 24
  let table = ''
  for (let hour = 0; hour < hours; hour++) {
    const id = await system.ago((hour + 28) * HOUR, () => createSession(system, tenant, 'track', track_id))
    table = await tableOf(system, id)
    await copyRows(system, id, Math.ceil(ENDED / hours) - 1)
  }
  const countRemaining = async () => {
    const [row] = await system.simulator.query(`select count(*) as sessions from "${table}"`)
    return Number(row!.sessions)
  }
  system.meter.slowest.duration = 0
  const before = await countRemaining()
  let ticks = 0
  let remaining = before
  const counts = await system.meter.during(async () => {
    for (; remaining > before - ENDED && ticks < MAX_TICKS; ticks++) {
      await system.tick()
      remaining = await countRemaining()
    }
  })
  const deleted = before - remaining
  // The remaining rows would affect the measurements of the other parts.
  await system.simulator.query(`delete from "${table}"`)
  return {
    minutes: (ticks * ENDED) / deleted,
    read: counts.read / deleted,
    written: counts.written / deleted,
    slowest: system.meter.slowest.duration,
  }
}

const OFFSETS = [0, 250, 299, 300, 1000, 0.1, 0.25, 0.4, 0.5, 0.77, 0.99]

/** Counts the rows read by a page of 50 tracks in a collection with `tracks` tracks: by the first page, and by the most expensive page. */
export async function countLists(
  system: System,
  tenant: Tenant,
  tracks: number,
): Promise<{ first: number; worst: number }> {
  const collection_id = await createCollection(system, tenant)
  const { id } = await createTrack(system, tenant, collection_id)
  await copyRows(system, id, tracks - 1)
  const path = `/v1/collection/${collection_id}/track?limit=50`
  const pages = OFFSETS.map((offset) => Math.floor(offset < 1 ? offset * tracks : offset))
  await system.call('GET', path, tenant.key)
  const read: number[] = []
  for (const offset of pages) {
    const counts = await system.meter.during(() => system.call('GET', `${path}&offset=${offset}`, tenant.key))
    read.push(counts.read)
  }
  return { first: read[0]!, worst: Math.max(...read) }
}

/**
 * Returns the paths of two groups of views. `cached` pairs each session with one track, so that all sessions and tracks are cached after
 * these views. `uncached` contains the remaining combinations.
 */
export function pairViews(sessions: string[], tracks: string[]): { cached: string[]; uncached: string[] } {
  const pair = (session: string, at: number) => viewPath(session, tracks[at % tracks.length]!)
  return {
    cached: sessions.map((session, at) => pair(session, at)),
    uncached: tracks.slice(1).flatMap((_, away) => sessions.map((session, at) => pair(session, at + away + 1))),
  }
}

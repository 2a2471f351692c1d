import type { Counts } from './meter.ts'
import { aCollection, aReadyTrack, aSession, aWaitingTrack, copies, type Shop, tableOf, view } from './seed.ts'
import type { System } from './system.ts'

/** What is counted, not timed: exact, however busy the machine is. */

const HOUR = 3600_000
const DAY = 24 * HOUR

/** The most of each count that one of several requests took. */
async function most(system: System, requests: (() => Promise<unknown>)[]): Promise<Counts> {
  const counts: Counts[] = []
  for (const request of requests) counts.push(await system.meter.during(request))
  const names = Object.keys(counts[0]!) as (keyof Counts)[]
  return Object.fromEntries(names.map((name) => [name, Math.max(...counts.map((one) => one[name]))])) as Counts
}

/** Of a play view that was just asked for. */
export async function countWarm(system: System, path: string): Promise<Counts> {
  await system.call('GET', path)
  return most(
    system,
    Array.from({ length: 10 }, () => () => system.call('GET', path)),
  )
}

/** Of play views none of which was asked for before; `first` are asked for before they are. */
export async function countViews(system: System, paths: string[], first: string[] = []): Promise<Counts> {
  for (const path of first) await system.call('GET', path)
  return most(
    system,
    paths.map((path) => () => system.call('GET', path)),
  )
}

/** Of `POST /v1/play_session`, with a key that is known. */
export async function countCreate(
  system: System,
  shop: Shop,
  scope: 'track' | 'collection',
  id: string,
): Promise<Counts> {
  const create = () => aSession(system, shop, scope, id)
  await create()
  return most(system, [create, create, create])
}

/** Of a track from its `POST` until it is ready, after so many seconds of work. */
export async function countReady(system: System, shop: Shop, collection_id: string, seconds: number): Promise<Counts> {
  return system.meter.during(() => aReadyTrack(system, shop, collection_id, seconds))
}

/** Rows written per session from its `POST` until it is swept: by how many more they are of more sessions, as some are written once an hour. */
export async function countLife(system: System, shop: Shop, track_id: string): Promise<number> {
  const [few, many] = [20, 60]
  const life = async (sessions: number) => {
    const made = await system.meter.during(async () => {
      for (let at = 0; at < sessions; at++) await aSession(system, shop, 'track', track_id)
    })
    const swept = await system.sweep(2 * DAY)
    return made.written + swept.written
  }
  // What lies there already is swept first, and the day of the usage is begun.
  await life(1)
  const rows = [await life(few), await life(many)] as const
  return (rows[1] - rows[0]) / (many - few)
}

const ENDED = 1_000_000
/** Ticks of the cron that are waited for; from what is left then the rest is computed. */
const MOST_TICKS = 20

/** How a million sessions that ended in the course of a day go away, in minutes: the cron ticks once in each. */
export async function countSweep(system: System, shop: Shop, track_id: string) {
  const hours = 24
  let table = ''
  for (let hour = 0; hour < hours; hour++) {
    const id = await system.ago((hour + 28) * HOUR, () => aSession(system, shop, 'track', track_id))
    table = await tableOf(system, id)
    await copies(system, id, Math.ceil(ENDED / hours) - 1)
  }
  const left = async () => {
    const [row] = await system.simulator.query(`select count(*) as sessions from "${table}"`)
    return Number(row!.sessions)
  }
  system.meter.slowest.duration = 0
  const before = await left()
  let ticks = 0
  let rest = before
  const counts = await system.meter.during(async () => {
    for (; rest > before - ENDED && ticks < MOST_TICKS; ticks++) {
      await system.tick()
      rest = await left()
    }
  })
  const gone = before - rest
  // What the other parts measure has nothing to do with these.
  await system.simulator.query(`delete from "${table}"`)
  return {
    minutes: (ticks * ENDED) / gone,
    read: counts.read / gone,
    written: counts.written / gone,
    slowest: system.meter.slowest.duration,
  }
}

const OFFSETS = [0, 250, 299, 300, 1000, 0.1, 0.25, 0.4, 0.5, 0.77, 0.99]

/** Rows read by pages of 50 of a collection with so many tracks: the first page's, and the most. */
export async function countLists(
  system: System,
  shop: Shop,
  tracks: number,
): Promise<{ first: number; worst: number }> {
  const collection_id = await aCollection(system, shop)
  const { id } = await aWaitingTrack(system, shop, collection_id)
  await copies(system, id, tracks - 1)
  const path = `/v1/collection/${collection_id}/track?limit=50`
  const pages = OFFSETS.map((offset) => Math.floor(offset < 1 ? offset * tracks : offset))
  await system.call('GET', path, shop.key)
  const read: number[] = []
  for (const offset of pages) {
    const counts = await system.meter.during(() => system.call('GET', `${path}&offset=${offset}`, shop.key))
    read.push(counts.read)
  }
  return { first: read[0]!, worst: Math.max(...read) }
}

/** Sessions and tracks all of which are known once each has been asked for, and the views that were not. */
export function pairs(sessions: string[], tracks: string[]): { known: string[]; unasked: string[] } {
  const pair = (session: string, at: number) => view(session, tracks[at % tracks.length]!)
  return {
    known: sessions.map((session, at) => pair(session, at)),
    unasked: tracks.slice(1).flatMap((_, away) => sessions.map((session, at) => pair(session, at + away + 1))),
  }
}

import { createLru } from '../adapters/cache/lru.ts'
import { retrying } from '../adapters/db/retry.ts'
import { HOUR } from '../contract/time.ts'
import type { TrackFacts } from './visits.ts'

/** Reads tracks of an organization from the database, once per hour and track. One read runs at a time, because D1 runs one query at a time. */

/** Milliseconds for which a track is remembered. Its length changes with a new file, its collection when it moves. */
const REMEMBERED = HOUR
const MAX_TRACKS = 20_000
/** Number of tracks from which a read gets no more. */
const MAX_READ = 5000
/** Milliseconds after which a track is read again if it does not fit a report: it may have been moved, or have a longer file. */
const REREAD = 60_000

/** `organization` is a row without a collection: whether the organization still exists. */
const SELECT = `select id, collection_id as collection, duration from tracks
  where id in (select value from json_each(?2)) and organization_id = ?1
  union all select id, '', 0 from organizations where id = ?1`

export function createTracks(db: D1Database, organization_id: string) {
  const known = createLru<{ facts: TrackFacts; read_at: number }>({ entries: MAX_TRACKS, bytes: MAX_TRACKS * 300 })
  /** The reads that have not ended, by track. */
  const reading = new Map<string, Promise<boolean>>()
  let lastRead: Promise<unknown> = Promise.resolve()
  /** The read that starts after the current one. */
  let next: { ids: string[]; done: Promise<boolean> } | null = null

  async function read(ids: string[]): Promise<boolean> {
    const statement = db.prepare(SELECT).bind(organization_id, JSON.stringify(ids))
    const { results } = await retrying(() => statement.all<TrackFacts>())
    const read_at = Date.now()
    const until = read_at + REMEMBERED
    const remember = (facts: TrackFacts) =>
      known.set(facts.id, { facts, read_at }, { organization_id, bytes: 300, until })
    // Those that were deleted are not in the results, and must not be read at every report.
    for (const id of ids) {
      const track = known.get(id, read_at)
      if (track) remember(track.facts)
    }
    for (const facts of results) if (facts.duration > 0) remember(facts)
    return results.some(({ id }) => id === organization_id)
  }

  /** Adds tracks to the next read. */
  function readSoon(ids: string[]): void {
    if (!next || next.ids.length >= MAX_READ) {
      const batch: string[] = []
      const done = lastRead.then(() => {
        if (next?.ids === batch) next = null
        return read(batch).finally(() => batch.forEach((id) => reading.delete(id)))
      })
      next = { ids: batch, done }
      lastRead = done.catch(() => undefined)
    }
    next.ids.push(...ids)
    for (const id of ids) reading.set(id, next.done)
  }

  return {
    /** Returns the tracks with these ids; null if the organization was deleted. `isOld`: whether a track must have changed since it was read. */
    async find(
      ids: Iterable<string>,
      isOld: (facts: TrackFacts) => boolean = () => false,
    ): Promise<Map<string, TrackFacts> | null> {
      const found = new Map<string, TrackFacts>()
      const missing: string[] = []
      const now = Date.now()
      for (const id of ids) {
        const track = known.get(id, now)
        if (track && !(track.read_at <= now - REREAD && isOld(track.facts))) found.set(id, track.facts)
        else missing.push(id)
      }
      if (missing.length === 0) return found
      const unread = missing.filter((id) => !reading.has(id))
      if (unread.length > 0) readSoon(unread)
      const reads = new Set(missing.flatMap((id) => reading.get(id) ?? []))
      const exist = await Promise.all(reads)
      for (const id of missing) {
        const track = known.get(id, Date.now())
        if (track) found.set(id, track.facts)
      }
      return exist.every(Boolean) ? found : null
    },
  }
}

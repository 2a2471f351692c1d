import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import type { Row } from '../../src/contract/backup.ts'
import { MAX_ROWS } from '../../src/contract/backup.ts'
import { MAX_PLAYLIST_TRACKS } from '../../src/contract/facts.ts'
import type { DatabaseSource, CopiedObject, BucketSource } from './manifest.ts'
import { copyObjects, type ObjectIndex } from './objects.ts'
import { contentOf, coverPathsOf, filePathsOf, entryWithPlace, playlistOf, withoutCover } from './references.ts'
import { readTable } from './rows.ts'
import type { Service } from './service.ts'
import type { Store } from './store.ts'

/**
 * Makes the tables of a backup agree with each other and with the objects. They were read one after another while the service changed them: a track
 * may have been processed again and its old files deleted, or it may have moved to a collection that was created later. Such rows are read again. Rows
 * that still refer to something that does not exist are left out and counted.
 */

/** How often rows are read again. Each round finds only what was changed since the round before. */
const ROUNDS = 5

type Fresh = Map<string, { table: string; row: Row } | null>

/** The rows that were read again, by id; null if the row no longer exists. */
export interface Tables {
  store: Store
  fresh: Fresh
}

const idOf = (row: Row) => String(row.id)

/** Reads a table with the rows that were read again. */
async function* rowsOf({ store, fresh }: Tables, table: string): AsyncGenerator<Row> {
  const mayBeFresh = ['tracks', 'collections', 'trash'].includes(table)
  for await (const row of readTable(store, table)) if (!mayBeFresh || !fresh.has(idOf(row))) yield row
  if (mayBeFresh) for (const found of fresh.values()) if (found?.table === table) yield found.row
}

async function idsOf(tables: Tables, table: string): Promise<Set<string>> {
  const ids = new Set<string>()
  for await (const row of rowsOf(tables, table)) ids.add(idOf(row))
  return ids
}

/** The ids of the resources in a backup. */
async function readIds(tables: Tables, isExport = false) {
  const trashed = { track: new Set<string>(), playlist: new Set<string>(), collection: new Set<string>() }
  for await (const row of rowsOf(tables, 'trash')) trashed[row.scope as keyof typeof trashed].add(idOf(row))
  const collections = await idsOf(tables, 'collections')
  const playlists = await idsOf(tables, 'playlists')
  return {
    collections,
    playlists,
    organizations: await idsOf(tables, 'organizations'),
    endpoints: await idsOf(tables, 'webhook_endpoints'),
    trashed,
    /** Only for an export. */
    shares: isExport ? await idsOf(tables, 'shares') : new Set<string>(),
    hasCollection: (id: unknown) => collections.has(String(id)) || trashed.collection.has(String(id)),
    hasPlaylist: (id: string) => playlists.has(id) || trashed.playlist.has(id),
  }
}
type Ids = Awaited<ReturnType<typeof readIds>>

/** Yields the tracks, and those in the trash. */
async function* tracksOf(tables: Tables): AsyncGenerator<{ table: string; row: Row; track: Row }> {
  for await (const row of rowsOf(tables, 'tracks')) yield { table: 'tracks', row, track: row }
  for await (const row of rowsOf(tables, 'trash'))
    if (row.scope === 'track') yield { table: 'trash', row, track: contentOf('trash', row) }
}

const isWhole = (track: Row, ids: Ids, index: ObjectIndex) =>
  ids.hasCollection(track.collection_id) && filePathsOf(track).every((path) => index.has(path))

/** Reads the tracks again whose files or collections are missing, and copies the objects that were added meanwhile. */
export async function readChanged(service: Service, tables: Tables, index: ObjectIndex): Promise<void> {
  for (let round = 1; round <= ROUNDS; round++) {
    const ids = await readIds(tables)
    const incomplete: string[] = []
    for await (const { row, track } of tracksOf(tables)) if (!isWhole(track, ids, index)) incomplete.push(idOf(row))
    if (incomplete.length === 0) return
    console.log(`rows      ${incomplete.length} tracks changed meanwhile; they are read again`)
    await readAgain(service, tables, 'tracks', incomplete)
    const collections = new Set<string>()
    for (const id of incomplete) {
      const found = tables.fresh.get(id)
      const collection_id = found ? String(contentOf(found.table, found.row).collection_id) : ''
      if (found && !ids.hasCollection(collection_id)) collections.add(collection_id)
    }
    await readAgain(service, tables, 'collections', [...collections])
    await copyObjects(service, tables.store, index)
  }
}

async function readAgain(service: Service, { fresh }: Tables, walk: string, ids: string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += MAX_ROWS) {
    const part = ids.slice(at, at + MAX_ROWS)
    const { rows } = await service.call('rows', { walk, after: null, ids: part })
    for (const id of part) fresh.set(id, null)
    for (const [table, found] of Object.entries(rows)) for (const row of found) fresh.set(idOf(row), { table, row })
  }
}

/** Tables whose rows have an `organization_id` and stay even if the organization was deleted: its purge jobs delete its objects. */
const WITHOUT_OWNER = ['jobs']

/** Returns a function that returns the row as it is restored, or null if it refers to something that is not in the backup or export. */
async function rowFilter(tables: Tables, index: ObjectIndex, isExport: boolean) {
  const ids = await readIds(tables, isExport)
  const liveTracks = new Set<string>()
  const whole = new Set<string>()
  for await (const { table, row, track } of tracksOf(tables)) {
    if (!isWhole(track, ids, index)) continue
    whole.add(idOf(row))
    if (table === 'tracks' && ids.collections.has(String(row.collection_id))) liveTracks.add(idOf(row))
  }
  const places = new Map<string, number>()
  const exists = {
    track: (id: string) => whole.has(id),
    collection: ids.hasCollection,
    playlist: ids.hasPlaylist,
  }
  const placed = (entry: Row): Row | null => {
    const home = playlistOf(entry)
    if (!ids.hasPlaylist(home) || !whole.has(String(entry.track_id))) return null
    const count = places.get(home) ?? 0
    if (count >= MAX_PLAYLIST_TRACKS && entry.playlist_id !== home) return entry
    const moved = entryWithPlace(entry, ids.playlists.has(home), liveTracks.has(String(entry.track_id)))
    if (moved.playlist_id === home) places.set(home, count + 1)
    return moved
  }
  /** The track may have left the trash after its row was read. */
  const reserved = (row: Row): Row | null => {
    const track_id = String(row.track_id)
    if (!whole.has(track_id)) return null
    return ids.trashed.track.has(track_id) ? row : { ...row, trashed: 0 }
  }
  const covered = (row: Row): Row => (coverPathsOf(row).every((path) => index.has(path)) ? row : withoutCover(row))
  return (table: string, row: Row): Row | null => {
    const { organization_id } = row
    if (
      organization_id !== undefined &&
      !WITHOUT_OWNER.includes(table) &&
      !ids.organizations.has(String(organization_id))
    )
      return null
    switch (table) {
      case 'tracks':
        return whole.has(idOf(row)) ? covered(row) : null
      case 'trash':
        return row.scope !== 'track' || whole.has(idOf(row)) ? row : null
      case 'collections':
      case 'playlists':
        return covered(row)
      case 'playlist_tracks':
        return placed(row)
      case 'reservations':
        return reserved(row)
      case 'shares':
        return exists[row.scope as keyof typeof exists](String(row.resource_id)) ? row : null
      case 'upload_sessions':
      case 'reprocesses':
        return ids.hasCollection(row.collection_id) ? row : null
      // A whole service keeps the slugs of deleted shares, and the handles by which the files of deleted tracks are found.
      case 'retired_slugs':
        return isExport && !ids.shares.has(String(row.share_id)) ? null : row
      case 'upload_handles':
        return isExport && !whole.has(String(row.track_id)) ? null : row
      case 'webhook_deliveries':
        return ids.endpoints.has(String(row.endpoint_id)) ? row : null
      default:
        return row
    }
  }
}

/** Stores the tables without rows that refer to nothing. Returns the source for the manifest and the number of rows that were left out. */
export async function storeTables(
  tables: Tables,
  index: ObjectIndex,
  names: string[],
  folder: string,
  isExport: boolean,
): Promise<{ source: DatabaseSource; dropped: Record<string, number> }> {
  const source: DatabaseSource = { name: 'DB', kind: 'database', tables: [] }
  const dropped: Record<string, number> = {}
  const restored = await rowFilter(tables, index, isExport)
  for (const name of names) {
    let count = 0
    async function* kept() {
      const seen = new Set<string>()
      for await (const row of rowsOf(tables, name)) {
        // A row of the trash may have been read by two runs.
        if (name === 'trash' && seen.has(idOf(row))) continue
        if (name === 'trash') seen.add(idOf(row))
        const kept = restored(name, row)
        if (kept) {
          count++
          yield kept
        } else dropped[name] = (dropped[name] ?? 0) + 1
      }
    }
    const file = await storeLines(tables.store, `${folder}/${name}.ndjson`, kept())
    source.tables.push({ name, rows: count, file })
  }
  return { source, dropped }
}

/** Stores the index of the objects: those that the bucket had at the end, and those to which rows refer. */
export async function storeIndex(tables: Tables, index: ObjectIndex, folder: string): Promise<BucketSource> {
  const referenced = new Set<string>()
  const refer = (paths: string[]) => {
    for (const path of paths) if (index.get(path)?.isListed === false) referenced.add(path)
  }
  for await (const { track } of tracksOf(tables)) refer([...filePathsOf(track), ...coverPathsOf(track)])
  for (const table of ['collections', 'playlists', 'trash'])
    for await (const row of rowsOf(tables, table)) refer(coverPathsOf(contentOf(table, row)))
  const source = { name: 'MEDIA' as const, kind: 'bucket' as const, objects: 0, bytes: 0 }
  async function* kept(): AsyncGenerator<CopiedObject> {
    for (const { isListed, ...object } of index.values()) {
      if (!isListed && !referenced.has(object.path)) continue
      source.objects++
      source.bytes += object.size
      yield object
    }
  }
  return { ...source, index: await storeLines(tables.store, `${folder}/objects.ndjson`, kept()), ...source }
}

/** Stores values as lines of JSON. */
async function storeLines(store: Store, path: string, values: AsyncIterable<object>) {
  const draft = join(store.workDirectory, 'final.ndjson')
  await mkdir(store.workDirectory, { recursive: true })
  async function* lines() {
    for await (const value of values) yield `${JSON.stringify(value)}\n`
  }
  await pipeline(Readable.from(lines()), createWriteStream(draft, { mode: 0o600 }))
  const { size } = await stat(draft)
  const checksums = await store.write(path, size, async () => createReadStream(draft))
  return { path, ...checksums }
}

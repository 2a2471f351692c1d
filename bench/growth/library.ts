import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { readMigrations } from '../../scripts/shared/migrations.ts'
import { newHourlyId } from '../../src/adapters/crypto/id.ts'

/** A library with copies of a single track: its rows are inserted many times, with new ids. */

export type Row = Record<string, unknown>
/** The rows of one track. */
export interface Sample {
  organization: Row
  collection: Row
  track: Row
  jobs: Row[]
  events: Row[]
  session: Row
}

const COLLECTIONS = 1000
const ORGANIZATIONS = 10

/** Reads the rows of one track, its collection and its organization from a database. */
export function readRows(path: string, track_id: string): Sample {
  using database = new DatabaseSync(path, { readOnly: true })
  const rows = (table: string, where: string, id: string): Row[] => {
    const columns = columnsOf(database, table).map((name) => `"${name}"`)
    return database.prepare(`select ${columns.join()} from ${table} where ${where}`).all(id)
  }
  const track = rows('tracks', 'id = ?', track_id)[0]!
  return {
    track,
    organization: rows('organizations', 'id = ?', String(track.organization_id))[0]!,
    collection: rows('collections', 'id = ?', String(track.collection_id))[0]!,
    jobs: rows('jobs', `payload ->> 'track_id' = ?`, track_id),
    events: rows('events', `subject = 'track:' || ?`, track_id),
    session: rows('play_sessions', 'resource_id = ?', track_id)[0]!,
  }
}

/** Returns the names of a table's columns, without generated ones. */
const columnsOf = (database: DatabaseSync, table: string) =>
  database
    .prepare('select name from pragma_table_info(?)')
    .all(table)
    .map(({ name }) => String(name))

/** Returns a new id in the format of the service: a UUID that starts with the shard number. */
const newId = () => `000${randomUUID().slice(3)}`

/** Fills a new database with copies of a track. Returns the bytes per track of each part of the database. */
export function createLibrary(path: string, sample: Sample, tracks: number) {
  using database = new DatabaseSync(path)
  database.exec('pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -65536')
  for (const { sql } of readMigrations(join(import.meta.dirname, '../../drizzle'))) database.exec(sql)
  const insert = inserter(database)
  const before = pages(database)
  database.exec('begin')
  const ids = [sample.organization, sample.collection, sample.track].map(({ id }) => String(id))
  const organizations = Array.from({ length: ORGANIZATIONS }, newId)
  for (const [seq, id] of organizations.entries()) insert('organizations', { ...sample.organization, id, seq })
  const collections = Array.from({ length: Math.min(COLLECTIONS, tracks) }, newId)
  for (const [seq, id] of collections.entries()) {
    const organization_id = organizations[seq % ORGANIZATIONS]
    insert('collections', { ...sample.collection, id, organization_id, seq })
  }
  for (let at = 0; at < tracks; at++) {
    const collection = at % collections.length
    const own = [organizations[collection % ORGANIZATIONS]!, collections[collection]!, newId()]
    const renamed = (row: Row) => withIds(row, ids, own)
    const created_at = Number(sample.track.created_at) + at * 1000
    insert('tracks', { ...renamed(sample.track), job_id: newId(), order: at, created_at, updated_at: null })
    for (const job of sample.jobs) insert('jobs', { ...renamed(job), id: newId(), created_at })
    for (const [n, event] of sample.events.entries())
      insert('events', { ...renamed(event), id: randomUUID(), seq: created_at * 10 + n, created_at })
    insert('play_sessions', { ...renamed(sample.session), id: newHourlyId(created_at), created_at })
  }
  database.exec('commit')
  const after = pages(database)
  const grown = (isPart: (name: string) => boolean) =>
    [...after].reduce((sum, [name, size]) => sum + (isPart(name) ? size - (before.get(name) ?? 0) : 0), 0) / tracks
  const indexesOf = (table: string) =>
    database
      .prepare(`select name from sqlite_master where type = 'index' and tbl_name = ?`)
      .all(table)
      .map(({ name }) => String(name))
  const [ofTracks, ofJobs] = [indexesOf('tracks'), indexesOf('jobs')]
  return {
    row: grown((name) => name === 'tracks'),
    payload: payloadOf(database, 'tracks'),
    indexes: grown((name) => ofTracks.includes(name)),
    search: grown((name) => /^search_(?!fills)/.test(name)),
    counts: grown((name) => name === 'list_counts'),
    events: grown((name) => name === 'events'),
    jobs: grown((name) => name === 'jobs' || ofJobs.includes(name)),
    sessions: grown((name) => name === 'play_sessions'),
  }
}

/** Returns a row in which the old ids are replaced, also inside longer strings. */
function withIds(row: Row, old: string[], own: string[]): Row {
  const renamed = (value: unknown) =>
    typeof value === 'string' ? old.reduce((text, id, at) => text.replaceAll(id, own[at]!), value) : value
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, renamed(value)]))
}

/** Returns a function that inserts rows, with one prepared statement per table. */
function inserter(database: DatabaseSync) {
  const statements = new Map<string, ReturnType<DatabaseSync['prepare']>>()
  return (table: string, row: Row) => {
    const names = Object.keys(row)
    const text = `insert into ${table} (${names.map((name) => `"${name}"`).join()}) values (${names.map(() => '?').join()})`
    const statement = statements.get(table) ?? database.prepare(text)
    statements.set(table, statement)
    statement.run(...(Object.values(row) as string[]))
  }
}

/** Returns the average size of a table's rows in bytes, without the free space on the pages. */
const payloadOf = (database: DatabaseSync, table: string) =>
  Number(
    database
      .prepare(`select sum(payload) / sum(ncell) as bytes from dbstat where name = ? and pagetype = 'leaf'`)
      .get(table)!.bytes,
  )

/** Returns the total size of the pages of each table and index, in bytes. */
const pages = (database: DatabaseSync) =>
  new Map(
    database
      .prepare('select name, pgsize from dbstat where aggregate = true')
      .all()
      .map(({ name, pgsize }) => [String(name), Number(pgsize)]),
  )

import { setTimeout as sleep } from 'node:timers/promises'

import { signPlaySession } from '../../src/client/sign.ts'
import { MAX_VIEWS, SHARE_KEY, SHARE_SESSION_TTL } from '../../src/contract/facts.ts'
import { S3_BUCKET } from './app.ts'
import type { System } from './system.ts'

/**
 * Test data for the benches. The first row of each kind is created through the API and its queues, and then copied with SQL. So this file
 * does not depend on the tables, except that ids are UUIDs with 12 arbitrary digits at the end.
 */

export type Tenant = Awaited<ReturnType<typeof createTenant>>

/** Creates an organization with a key. */
export async function createTenant({ call, root }: System) {
  const { secret } = await call<{ secret: string }>('POST', '/v1/organization', root, { name: 'Bench' })
  return { key: secret }
}

export async function createCollection({ call }: System, { key }: Tenant): Promise<string> {
  const { collection_id } = await call('POST', '/v1/collection', key, { title: 'Kind of Blue' })
  return collection_id as string
}

/** Creates a track without uploading a file. Returns the key of the object that an upload would create. */
export async function createTrack({ call }: System, { key }: Tenant, collection_id: string) {
  const body = { collection_id, file_name: '01 So What.flac' }
  const created = await call<{ track_id: string; track_upload: { upload_url: string } }>('POST', '/v1/track', key, body)
  const path = decodeURIComponent(new URL(created.track_upload.upload_url).pathname)
  return { id: created.track_id, object: path.split(`/${S3_BUCKET}/`)[1]! }
}

/** Creates a track and processes it until it is ready: an upload, R2's event, and a job that takes `seconds`. */
export async function createReadyTrack(
  system: System,
  shop: Tenant,
  collection_id: string,
  seconds: number,
): Promise<string> {
  const { id, object } = await createTrack(system, shop, collection_id)
  await system.putObject(object, 'fLaC\0')
  system.transcoder.work.seconds = seconds
  const event = { action: 'PutObject', bucket: S3_BUCKET, object: { key: object, size: 4, eTag: 'etag' } }
  await system.withFastClock(async () => {
    await system.deliver('tonearm-ingest', event)
    for (;;) {
      const { track } = await system.call<{ track: { status: string; info: object } }>(
        'GET',
        `/v1/track/${id}`,
        shop.key,
      )
      if (track.status === 'ready') return
      if (track.status !== 'processing')
        throw new Error(`the track is ${track.status} after its job: ${JSON.stringify(track.info)}`)
      await sleep(50)
    }
  })
  return id
}

export async function createSession({ call }: System, { key }: Tenant, scope: 'track' | 'collection', id: string) {
  const body = { [`${scope}_id`]: id, expires_in: 3600 }
  const { play_session_id } = await call('POST', `/v1/play_session/${scope}`, key, body)
  return play_session_id as string
}

/** Creates a signing key. Returns a function that signs sessions of a collection. */
export async function createSigner({ call }: System, { key }: Tenant, collection_id: string) {
  const { secret } = await call<{ secret: string }>('POST', '/v1/api_key', key, { title: 'App', type: 'signing' })
  return () => signPlaySession(secret, { scope: 'collection', id: collection_id })
}

/** Creates a share of a collection. Returns its slug, and a function that opens its page and returns the session that the page carries. */
export async function createShare({ call, open }: System, { key }: Tenant, collection_id: string) {
  const body = { scope: 'collection', id: collection_id }
  const { share } = await call<{ share: { slug: string } }>('POST', '/v1/share', key, body)
  const visit = async (path = `/s/${share.slug}`): Promise<string> => {
    const id = /"play_session_id":"([^"]+)"/.exec(await open(path))?.[1]
    if (id === undefined) throw new Error(`${path} carries no session`)
    return id
  }
  return { slug: share.slug, visit }
}

/** Renews the session of a share, as its player does. */
export async function renewSession({ call }: System, slug: string, collection_id: string): Promise<string> {
  const body = { collection_id, is_downloadable: false, expires_in: SHARE_SESSION_TTL, views: MAX_VIEWS }
  const { play_session_id } = await call('POST', '/v1/play_session/collection', `${SHARE_KEY}${slug}`, body)
  return play_session_id as string
}

/** Returns the id of the i-th copy of a row. `i` starts at 1. */
const copyId = (id: string, i: number) => `${id.slice(0, 24)}${i.toString(16).padStart(12, '0')}`

/** Copies a row and its dependent rows in other tables. Returns the ids of the copies. */
export async function copyRows(system: System, id: string, count: number): Promise<string[]> {
  const ownTable = await tableOf(system, id)
  const foreignKey = `${ownTable.replace(/s$/, '')}_id`
  for (const [table, columns] of await tables(system)) {
    const key = table === ownTable ? 'id' : foreignKey
    if (columns.includes(key)) await copyRow(system, table, columns, key, id, count)
  }
  return Array.from({ length: count }, (_, at) => copyId(id, at + 1))
}

/** Returns the table that contains a row with this id. */
export async function tableOf(system: System, id: string): Promise<string> {
  for (const [table, columns] of await tables(system)) {
    if (!columns.includes('id')) continue
    if ((await system.simulator.query(`select 1 from "${table}" where id = ?`, id)).length > 0) return table
  }
  throw new Error(`no table has a row with the id ${id}`)
}

/** Returns the names of all tables and their columns. */
async function tables({ simulator: { query } }: System): Promise<[string, string[]][]> {
  const tableRows = await query(
    `select name from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\'`,
  )
  const names = tableRows.map(({ name }) => String(name))
  return Promise.all(
    names.map(async (name): Promise<[string, string[]]> => {
      const columns = await query(`pragma table_info("${name}")`)
      return [name, columns.map((column) => String(column.name))]
    }),
  )
}

/** Maximum number of rows per statement, because D1 aborts a statement after 30 s. */
const ROWS_PER_STATEMENT = 50_000

async function copyRow(
  { simulator: { query } }: System,
  table: string,
  columns: string[],
  key: string,
  id: string,
  count: number,
): Promise<void> {
  const changed: Record<string, string> = {
    [key]: `substr("${key}", 1, 24) || printf('%012x', i)`,
    // Lists are ordered by these columns, which must be unique.
    order: '"order" + i',
    seq: 'seq + i',
  }
  const values = columns.map((column) => changed[column] ?? `"${column}"`)
  const names = columns.map((column) => `"${column}"`)
  for (let from = 1; from <= count; from += ROWS_PER_STATEMENT) {
    const to = Math.min(count, from + ROWS_PER_STATEMENT - 1)
    await query(`with recursive n(i) as (select ${from} union all select i + 1 from n where i < ${to})
      insert into "${table}" (${names.join(', ')}) select ${values.join(', ')} from "${table}", n where "${key}" = '${id}'`)
  }
}

/** Returns the path of a play view. */
export const viewPath = (play_session_id: string, track_id: string) => `/v1/play/${play_session_id}/${track_id}`

/** Returns the path of a session with five play views, as players request it. `from` is the id of the first track. */
export const viewsPath = (play_session_id: string, from?: string) =>
  `/v1/play/${play_session_id}?views=${MAX_VIEWS}${from ? `&from=${from}` : ''}`

/** Throws unless a play view is complete: it must have 4 files, a cover in 3 sizes, and 320 levels. */
export async function requireView({ call }: System, path: string): Promise<void> {
  const playView = await call<{ variants: unknown[]; cover_image: object | null; levels: { levels: unknown[] } }>(
    'GET',
    path,
  )
  const urls = JSON.stringify([playView.variants, playView.cover_image]).match(/X-Amz-Signature=/g)?.length
  if (urls !== 7 || playView.levels.levels.length !== 320) {
    throw new Error(`the play view has ${urls} signed URLs and ${playView.levels.levels.length} levels, not 7 and 320`)
  }
}

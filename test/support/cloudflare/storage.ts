import { randomBytes, randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'

import {
  type Account,
  type Bucket,
  type Call,
  type Database,
  ApiError,
  lookUp,
  type Queue,
  type Routes,
} from './account.ts'
import { dump } from './dump.ts'

/** Simulates R2, Queues and D1. */

/** Finds a bucket. Those of a jurisdiction are found only there. */
function bucketOf({ account, words, jurisdiction }: Call) {
  const bucket = lookUp(account.buckets, words[0], 10_006)
  if (bucket.jurisdiction === jurisdiction) return bucket
  throw new ApiError(404, 10_006, 'The specified bucket does not exist.')
}

/** R2 responds with the region in capitals. Without a hint, it is near the caller. */
const describeBucket = (name: string, { location = 'enam', jurisdiction }: Bucket) => ({
  name,
  location: location.toUpperCase(),
  jurisdiction: jurisdiction ?? 'default',
})

export const r2: Routes = {
  'GET /r2/buckets/:name': (call) => describeBucket(call.words[0]!, bucketOf(call)),
  'DELETE /r2/buckets/:name': (call) => (bucketOf(call), call.account.buckets.delete(call.words[0]!), {}),
  'POST /r2/buckets': ({ account, jurisdiction, body: { name, locationHint: location } }) => {
    if (account.buckets.has(name))
      throw new ApiError(409, 10_004, 'The bucket you tried to create already exists, and you own it.')
    const bucket = { location, jurisdiction, cors: null, rules: [], domains: new Set<string>(), isPublic: false }
    account.buckets.set(name, bucket)
    return describeBucket(name, bucket)
  },
  'GET /r2/buckets/:name/cors': (call) => {
    const { cors } = bucketOf(call)
    if (cors) return cors
    throw new ApiError(404, 10_059, 'The CORS configuration does not exist.')
  },
  'PUT /r2/buckets/:name/cors': (call) => ((bucketOf(call).cors = call.body), {}),
  'GET /r2/buckets/:name/domains/managed': (call) => ({ enabled: bucketOf(call).isPublic }),
  'GET /r2/buckets/:name/domains/custom': (call) => ({
    domains: [...bucketOf(call).domains].map((domain) => ({ domain, enabled: true, zoneId: 'zone1' })),
  }),
  'POST /r2/buckets/:name/domains/custom': (call) => {
    const { domain } = call.body
    if ([...call.account.records.values()].some(({ name }) => name === domain))
      throw new ApiError(409, 10_054, 'A DNS record for this domain already exists.')
    bucketOf(call).domains.add(domain)
    return { domain, enabled: true }
  },
  'DELETE /r2/buckets/:name/domains/custom/:domain': (call) => {
    if (call.account.rules.keepsDomains) throw new ApiError(500, 10_001, 'We encountered an internal error.')
    bucketOf(call).domains.delete(call.words[1]!)
    return { domain: call.words[1] }
  },
  'GET /event_notifications/r2/:name/configuration': (call) => {
    const { rules } = bucketOf(call)
    if (rules.length > 0) return { bucketName: call.words[0], queues: rules }
    throw new ApiError(404, 11_015, 'No event notification configuration found.')
  },
  'PUT /event_notifications/r2/:name/configuration/queues/:id': (call) => {
    const [, queueId = ''] = call.words
    queueWithId(call.account, queueId)
    return bucketOf(call).rules.push({ queueId, rules: call.body.rules })
  },
}

function queueWithId(account: Account, id: string | undefined): [string, Queue] {
  const found = [...account.queues].find(([, { queue_id }]) => queue_id === id)
  if (found) return found
  throw new ApiError(404, 11_000, 'Queue does not exist.')
}

function describeQueue([queue_name, { queue_id, consumer }]: [string, Queue]) {
  const script = {
    consumer_id: queue_id,
    script: consumer,
    service: consumer,
    environment: 'production',
    type: 'worker',
  }
  return { queue_id, queue_name, producers: [], consumers: consumer ? [script] : [] }
}

function consume({ account, words: [id], body: { script_name } }: Call) {
  const [, queue] = queueWithId(account, id)
  if (queue.consumer && queue.consumer !== script_name) throw new ApiError(400, 11_004, 'Queue already has a consumer.')
  queue.consumer = script_name
  return { script: script_name }
}

export const queues: Routes = {
  'GET /queues': ({ account, query }) => {
    const names = query.getAll('name')
    return [...account.queues].filter(([name]) => names.length === 0 || names.includes(name)).map(describeQueue)
  },
  'POST /queues': ({ account, body: { queue_name } }) => {
    if (account.queues.has(queue_name)) throw new ApiError(409, 11_009, 'Queue name is already taken.')
    const queue = { queue_id: randomBytes(16).toString('hex'), consumer: null }
    account.queues.set(queue_name, queue)
    return describeQueue([queue_name, queue])
  },
  'PATCH /queues/:id': (call) => {
    const [name, queue] = queueWithId(call.account, call.words[0])
    queue.isPaused = call.body.settings.delivery_paused
    return describeQueue([name, queue])
  },
  'DELETE /queues/:id': ({ account, words }) => (account.queues.delete(queueWithId(account, words[0])[0]), {}),
  'GET /queues/:id/consumers': ({ account, words }) => describeQueue(queueWithId(account, words[0])).consumers,
  'POST /queues/:id/consumers': consume,
  'PUT /queues/:id/consumers/:consumer': consume,
}

/** Finds a database by name or id. */
function databaseOf({ account, words: [key] }: Call) {
  const found = [...account.databases].find(([name, { uuid }]) => uuid === key || name === key)
  if (found) return { name: found[0], ...found[1] }
  throw new ApiError(404, 7404, `The database ${key} could not be found`)
}

const metaOf = (sql: DatabaseSync) => ({ duration: 1, rows_read: 0, rows_written: 0, size_after: sizeOf(sql) })

const count = (sql: DatabaseSync, text: string) => Number(Object.values(sql.prepare(text).get() ?? {})[0])
const sizeOf = (sql: DatabaseSync) => count(sql, 'pragma page_count') * count(sql, 'pragma page_size')

/** Runs SQL as `/query` does, and rejects triggers of the form that D1's statement splitter breaks. */
function query(call: Call): unknown {
  const { sql } = databaseOf(call)
  const text = call.body.sql
  const { rules } = call.account
  const creations = text.split('\n').filter((line) => /create\s+trigger/i.test(line))
  const areTorn = creations.some((line) => !/ BEGIN .*; END;$/.test(line))
  if (creations.length > 0 && (areTorn || rules.refusedTriggers-- > 0))
    throw new ApiError(400, 7500, 'incomplete input: SQLITE_ERROR')
  try {
    if (/^\s*select/i.test(text)) return [{ results: sql.prepare(text).all(), success: true, meta: metaOf(sql) }]
    sql.exec(`begin;${text};commit`)
    return [{ results: [], success: true, meta: metaOf(sql) }]
  } catch (error) {
    if (sql.isTransaction) sql.exec('rollback')
    throw new ApiError(400, 7500, `${(error as Error).message}: SQLITE_ERROR`)
  }
}

function importSql(call: Call): unknown {
  const { action, etag } = call.body
  if (action === 'init')
    return { success: true, upload_url: `${call.url}/files/${etag}`, filename: etag, at_bookmark: '1', messages: [] }
  if (call.account.rules.refusesImports) throw new ApiError(500, 7500, 'internal error')
  const { sql } = databaseOf(call)
  sql.exec(`begin;${call.account.files.get(etag)};commit`)
  const result = { num_queries: 1, final_bookmark: '2', meta: metaOf(sql) }
  return { success: true, status: 'complete', messages: [], result }
}

function exportSql(call: Call): unknown {
  const filename = `${randomUUID()}.sql`
  call.account.files.set(filename, dump(databaseOf(call).sql))
  const result = { filename, signed_url: `${call.url}/files/${filename}` }
  return { success: true, status: 'complete', at_bookmark: '1', messages: [], result }
}

const describeDatabase = ({ uuid, name, jurisdiction }: Database & { name: string }) => ({
  uuid,
  name,
  version: 'production',
  jurisdiction,
})

const detailsOf = (found: Database & { name: string }) => ({
  ...describeDatabase(found),
  file_size: sizeOf(found.sql),
  num_tables: count(found.sql, "select count(*) from sqlite_master where type = 'table'"),
  read_replication: { mode: found.replication },
})

export const d1: Routes = {
  'GET /d1/database': ({ account }) =>
    [...account.databases].map(([name, database]) => describeDatabase({ ...database, name })),
  'POST /d1/database': (call) => {
    const { name, jurisdiction = null, primary_location_hint: location } = call.body
    const { databases } = call.account
    if (databases.has(name)) throw new ApiError(400, 7502, 'Database with name already exists')
    const sql = new DatabaseSync(':memory:')
    databases.set(name, { uuid: randomUUID(), sql, jurisdiction, location, replication: 'disabled' })
    return detailsOf({ ...lookUp(databases, name, 7404), name })
  },
  'GET /d1/database/:id': (call) => detailsOf(databaseOf(call)),
  'PUT /d1/database/:id': (call) => {
    const { name } = databaseOf(call)
    if (!call.account.rules.hasReplication) throw new ApiError(400, 7500, 'Read replication is not available.')
    lookUp(call.account.databases, name, 7404).replication = call.body.read_replication.mode
    return detailsOf(databaseOf(call))
  },
  'DELETE /d1/database/:id': (call) => (call.account.databases.delete(databaseOf(call).name), null),
  'POST /d1/database/:id/query': query,
  'POST /d1/database/:id/import': importSql,
  'POST /d1/database/:id/export': exportSql,
}

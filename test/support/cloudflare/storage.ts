import { randomBytes, randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'

import { type Account, type Call, ApiError, lookUp, type Queue, type Routes } from './account.ts'

/** Simulates R2, Queues and D1. */

const bucketOf = ({ account, words }: Call) => lookUp(account.buckets, words[0], 10_006)

export const r2: Routes = {
  'GET /r2/buckets/:name': (call) => ({ name: call.words[0], ...bucketOf(call) }),
  'DELETE /r2/buckets/:name': (call) => (bucketOf(call), {}),
  'POST /r2/buckets': ({ account, body: { name } }) => {
    if (account.buckets.has(name))
      throw new ApiError(409, 10_004, 'The bucket you tried to create already exists, and you own it.')
    account.buckets.set(name, { cors: null, rules: [] })
    return { name }
  },
  'GET /r2/buckets/:name/cors': (call) => {
    const { cors } = bucketOf(call)
    if (cors) return cors
    throw new ApiError(404, 10_059, 'The CORS configuration does not exist.')
  },
  'PUT /r2/buckets/:name/cors': (call) => ((bucketOf(call).cors = call.body), {}),
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
  'DELETE /queues/:id': ({ account, words }) => (queueWithId(account, words[0]), {}),
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

const meta = { duration: 1, rows_read: 0, rows_written: 0, size_after: 1 }

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
    if (/^\s*select/i.test(text)) return [{ results: sql.prepare(text).all(), success: true, meta }]
    sql.exec(`begin;${text};commit`)
    return [{ results: [], success: true, meta }]
  } catch (error) {
    if (sql.isTransaction) sql.exec('rollback')
    throw new ApiError(400, 7500, `${(error as Error).message}: SQLITE_ERROR`)
  }
}

function importSql(call: Call): unknown {
  const { action, etag } = call.body
  if (action === 'init')
    return { success: true, upload_url: `${call.url}/imports/${etag}`, filename: etag, at_bookmark: '1', messages: [] }
  if (call.account.rules.refusesImports) throw new ApiError(500, 7500, 'internal error')
  databaseOf(call).sql.exec(`begin;${call.account.imports.get(etag)};commit`)
  return { success: true, status: 'complete', messages: [], result: { num_queries: 1, final_bookmark: '2', meta } }
}

const describeDatabase = ({ uuid, name }: { uuid: string; name: string }) => ({ uuid, name, version: 'production' })

export const d1: Routes = {
  'GET /d1/database': ({ account }) =>
    [...account.databases].map(([name, { uuid }]) => describeDatabase({ uuid, name })),
  'POST /d1/database': ({ account, body: { name } }) => {
    if (account.databases.has(name)) throw new ApiError(400, 7502, 'Database with name already exists')
    account.databases.set(name, { uuid: randomUUID(), sql: new DatabaseSync(':memory:') })
    return describeDatabase({ name, uuid: lookUp(account.databases, name, 7404).uuid })
  },
  'GET /d1/database/:id': (call) => describeDatabase(databaseOf(call)),
  'DELETE /d1/database/:id': (call) => (databaseOf(call), {}),
  'POST /d1/database/:id/query': query,
  'POST /d1/database/:id/import': importSql,
}

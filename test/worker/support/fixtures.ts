import {
  createExecutionContext,
  createMessageBatch,
  createScheduledController,
  getQueueResult,
  runInDurableObject,
} from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { expect, onTestFinished, vi } from 'vitest'

import { filesOf as decoded, type StoredFiles, type TrackFile } from '../../../src/adapters/bucket/track_files.ts'
import { uploadPath } from '../../../src/adapters/bucket/track_paths.ts'
import { storedFile } from '../../../src/adapters/bucket/track_storage.ts'
import { uploadSuffix } from '../../../src/adapters/bucket/track_storage.ts'
import { tracks } from '../../../src/adapters/db/schema/library.ts'
import { jobs } from '../../../src/adapters/db/schema/work.ts'
import { insertTranscode } from '../../../src/domain/transcode/queue.ts'
import worker, { TranscoderContainer } from '../../../src/index.ts'
import {
  aCollection,
  anOrganization,
  aTrack,
  call,
  db,
  HOUR,
  recordingBindings,
  sentWakes,
  ok,
  readTrack,
  silentQueue,
  sortedStatuses,
} from './api.ts'

type Track = typeof tracks.$inferSelect

export type Tenant = Awaited<ReturnType<typeof aTenant>>
/** Creates an organization with a collection; returns `key`, `organization_id` and `collection_id`. */
export async function aTenant() {
  const { id, key } = await anOrganization()
  const collection = await aCollection(key)
  return { key, organization_id: id, collection_id: collection.id }
}

/** Creates a tenant and a track that can be played; also returns `track_id`. */
export async function aTenantWithTrack() {
  const tenant = await aTenant()
  return { ...tenant, track_id: await aReadyTrack(tenant.key, tenant.collection_id) }
}

export const trackRow = async (id: string): Promise<Track> =>
  (await db.select().from(tracks).where(eq(tracks.id, id)).get())!
/** The files of a track, decoded from its row. */
export async function fileRows(id: string): Promise<TrackFile[]> {
  const row = (await trackRow(id)) as Track | undefined
  return row ? decoded(row) : []
}
/** The value of the column `files` for a track with these files. */
export function filesColumn(files: TrackFile[]): StoredFiles {
  const original = files.find(({ index }) => index === 'original')
  return {
    base:
      files
        .find(({ index }) => index !== 'original')
        ?.path.split('/')
        .at(-2) ?? '00job',
    ...(original && { source: uploadSuffix(original.path) }),
    ...(files[0]?.is_early && { is_early: 1 }),
    list: files.map((file) =>
      storedFile(file === original ? 'original' : file.path.split('/').at(-1)!, file, file.variant_id ?? undefined),
    ),
  }
}
export const jobRow = async (id: string) => (await db.select().from(jobs).where(eq(jobs.id, id)).get())!

/** Writes the bytes of an upload, as the presigned `PUT` does. */
export async function putUpload(track: Track, bytes = 'RIFF\0audio') {
  await env.MEDIA.put(uploadPath(track), bytes)
}

/** Changes several tracks in one request. */
export const batchTracks = (key: string, changes: object[], headers = {}) =>
  ok('POST', '/v1/track/batch', { key, body: { changes }, headers })

/** The values of a track's columns after its upload has arrived. */
export const uploadedColumns = (row: Track) => ({
  source_suffix: row.upload_suffix,
  source_size: 10,
  awaiting_upload: false,
})

/** Creates a track in the state after a finished job, but without stored files; see `storeFiles`. */
export async function aReadyTrack(
  key: string,
  collection_id: string,
  body: object = {},
  file_names = ['aac-160.m4a', 'mp3-128.mp3', 'opus-96.webm', 'preview.mp3', 'waveform.json', 'analysis.json'],
) {
  const { id } = await aTrack(key, collection_id, body)
  const row = await trackRow(id)
  const file = { size: 5, bitrate: 128, duration: 12.346 }
  const files = { base: '00job', source: '', list: [...file_names, 'original'].map((name) => storedFile(name, file)) }
  const levels = Array.from({ length: 320 }, () => 0.5)
  await db
    .update(tracks)
    .set({
      ...uploadedColumns(row),
      status: 'ready',
      job_id: 'done',
      duration: 12.346,
      levels,
      info: { codec: 'mp3' },
      files,
    })
    .where(eq(tracks.id, id))
  return id
}

/** Stores the files of a ready track in R2. */
export async function storeFiles(track_id: string) {
  const files = await fileRows(track_id)
  await Promise.all(files.map(({ path }) => env.MEDIA.put(path, 'audio')))
}

/** The Durable Object of the only transcoder in these tests. */
export const transcoderObject = () => env.TRANSCODER.getByName('slot-0')

const { value: openForReal } = Object.getOwnPropertyDescriptor(TranscoderContainer.prototype, 'open')! as {
  value: TranscoderContainer['open']
}

/**
 * Makes the followers of jobs use these bindings until the test ends. The transcode queue discards its messages: the test delivers each message
 * itself.
 */
export function followWith(bindings: Env): void {
  const changed = { env: { ...bindings, TRANSCODE_QUEUE: silentQueue } }
  const spy = vi.spyOn(TranscoderContainer.prototype, 'open')
  spy.mockImplementation(() => Reflect.apply(openForReal, changed, []))
  onTestFinished(() => spy.mockRestore())
}

/** Resolves when this job is no longer followed. Without an id, resolves when no job is followed. */
export const untilUnfollowed = (job_id?: string) =>
  eventually(() =>
    runInDurableObject(transcoderObject(), ({ activeJobs }) =>
      job_id ? !activeJobs.has(job_id) : activeJobs.size === 0,
    ),
  )

/** Creates a track in `processing` whose job is not in the queue: the test delivers the message itself. */
export async function aTrackWithJob({ size = 10, tenant }: { size?: number; tenant?: Tenant } = {}) {
  const { key, organization_id, collection_id } = tenant ?? (await aTenant())
  const { id: track_id } = await aTrack(key, collection_id)
  const row = await trackRow(track_id)
  await putUpload(row)
  const payload = { kind: 'transcode' as const, track_id, source_path: uploadPath(row), source_size: size }
  const job = insertTranscode(
    { env, db, now: Date.now(), invalidate: () => undefined, actor: null },
    organization_id,
    payload,
  )
  await db.batch([
    job.insert,
    db
      .update(tracks)
      .set({ ...uploadedColumns(row), status: 'processing', job_id: job.id, progress: 0 })
      .where(eq(tracks.id, track_id)),
  ])
  return {
    key,
    organization_id,
    collection_id,
    track_id: track_id,
    job_id: job.id,
    row,
    read: () => readTrack(key, track_id),
    /** Delivers the job's message and waits until the job is no longer followed. */
    async run(bindings: Env = recordingBindings) {
      await deliver('transcode', { job_id: job.id }, { bindings })
      await untilUnfollowed(job.id)
      const { state, lease_until } = await jobRow(job.id)
      return state === 'open'
        ? { ended: false, retried_in: Math.round((lease_until - Date.now()) / 1000) }
        : { ended: true }
    },
    job: () => jobRow(job.id),
    /** Changes columns of the job, to simulate elapsed time or another worker. For example, `lease_until: 0` is an expired lease. */
    changeJob: (values: Partial<typeof jobs.$inferSelect>) => db.update(jobs).set(values).where(eq(jobs.id, job.id)),
  }
}

/** Passes one message to the consumer of a queue. Returns whether the message was acknowledged, or else the delay of its retry in seconds. */
export async function deliver(
  queue: string,
  body: unknown,
  options: { attempts?: number; bindings?: Env | undefined } = {},
) {
  // The name of the queue in another deployment, where all names have a different prefix.
  const batch = createMessageBatch(`tonearm-staging-${queue}`, [
    { id: 'message', timestamp: new Date(), attempts: options.attempts ?? 1, body },
  ])
  const context = createExecutionContext()
  // The result of the batch does not contain the delay, so a spy records the argument of `retry`.
  const retry = vi.spyOn(batch.messages[0]!, 'retry')
  await worker.queue(batch, options.bindings ?? recordingBindings)
  const { explicitAcks, retryMessages } = await getQueueResult(batch, context)
  expect(retryMessages).toHaveLength(retry.mock.calls.length)
  return { acknowledged: explicitAcks.includes('message'), retried_in: retry.mock.calls[0]?.[0]?.delaySeconds }
}

/** The real bindings, except that `action` runs after a handler has read and before it writes its batch. */
export const beforeBatch = (action: () => Promise<unknown>): Env => ({
  ...env,
  DB: new Proxy(env.DB, {
    get(database, name: keyof D1Database) {
      if (name !== 'batch') return database[name].bind(database)
      return async (statements: D1PreparedStatement[]) => {
        await action()
        return database.batch(statements)
      }
    },
  }),
})

/**
 * Deletes the same resource several times at once. Every request reads the resource before the first request deletes it. Returns the sorted statuses.
 */
export async function deleteAtOnce(path: string, key: string, times = 4) {
  const { promise, resolve } = Promise.withResolvers<void>()
  let waiting = 0
  const bindings = beforeBatch(() => {
    if (++waiting === times) resolve()
    return promise
  })
  const answers = await Promise.all(Array.from({ length: times }, () => call('DELETE', path, { key, bindings })))
  return sortedStatuses(answers)
}

/** The event that R2 sends when an object has been written. */
export const uploadEvent = (key: string) => ({
  account: 'account',
  action: 'PutObject',
  bucket: 'tonearm-media',
  object: { key, size: 10, eTag: 'etag' },
  eventTime: new Date().toISOString(),
})

/** Runs the cron trigger, which fires every minute. */
export const runSweep = (bindings: Env = recordingBindings) =>
  worker.scheduled(createScheduledController({ cron: '* * * * *' }), bindings)

/** Stops the clock of the Worker, which runs in the isolate of the test, until the test ends. `vi.setSystemTime` changes its time. */
export function stopTime(): void {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** Advances the clock of the Worker, which runs in the isolate of the test. `vi.useRealTimers()` resets it. */
export function advanceHours(hours: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * HOUR })
}

/** Milliseconds after which a message counts as late. On one core, the local queue once delayed the messages of a test by more than two minutes. */
const LATE = 15_000

/** Polls until `check` returns a truthy value. Late messages are delivered again, on busy cores possibly before their first delivery is finished. */
export async function eventually<T>(check: () => Promise<T>) {
  let waitingSince = performance.now()
  const poll = async () => {
    const found = await check()
    if (found || performance.now() - waitingSince < LATE) return found
    for (const body of sentWakes.splice(0)) await deliver('transcode', body)
    waitingSince = performance.now()
    return found
  }
  return vi.waitUntil(poll, { timeout: 120_000, interval: 25 })
}

export const storedFiles = async (prefix = '') => (await env.MEDIA.list({ prefix })).objects.map(({ key }) => key)

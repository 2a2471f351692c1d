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

import { trackPath, uploadPath } from '../../src/adapters/media.ts'
import { tracks } from '../../src/adapters/schema.ts'
import { jobs } from '../../src/adapters/work_schema.ts'
import worker, { TranscoderContainer } from '../../src/index.ts'
import { insertTranscode } from '../../src/pipeline/transcode/queue.ts'
import { aCollection, anOrganization, aTrack, call, db, noting, nudges, ok, silent } from './support.ts'

type Track = typeof tracks.$inferSelect

export type Shop = Awaited<ReturnType<typeof aShop>>
/** An organization with a collection: `key`, `organization_id`, `collection_id`. */
export async function aShop() {
  const { id, key } = await anOrganization()
  const collection = await aCollection(key)
  return { key, organization_id: id, collection_id: collection.id }
}

export const trackRow = async (id: string): Promise<Track> =>
  (await db.select().from(tracks).where(eq(tracks.id, id)).get())!
/** The files that a track has. */
export const filesOf = async (id: string) => (await trackRow(id))?.files ?? []
export const jobRow = async (id: string) => (await db.select().from(jobs).where(eq(jobs.id, id)).get())!

/** The bytes of an upload, as the presigned `PUT` writes them. */
export async function upload(track: Track, bytes = 'RIFF\0audio') {
  await env.MEDIA.put(uploadPath(track), bytes)
}

/** Changes of many tracks at once. */
export const changeTracks = (key: string, changes: object[], headers = {}) =>
  ok('POST', '/v1/track/batch', { key, body: { changes }, headers })

/** The columns of a track whose upload has arrived. */
export const uploaded = (row: Track) => ({ source_path: row.upload_path, source_size: 10, awaiting_upload: false })

/** A track as a finished job leaves it, without its files; see `storeFiles`. */
export async function aReadyTrack(
  key: string,
  collection_id: string,
  body: object = {},
  made = ['aac-160.m4a', 'mp3-128.mp3', 'opus-96.webm', 'preview.mp3', 'waveform.json', 'analysis.json'],
) {
  const { id } = await aTrack(key, collection_id, body)
  const row = await trackRow(id)
  const files = [
    ...made.map((name) => ({ index: name.replace(/\.\w+$/, ''), path: `${trackPath(row)}/00job/${name}` })),
    { index: 'original', path: uploadPath(row) },
  ].map((file) => ({ ...file, size: 5, bitrate: 128, duration: 12.346, variant_id: null, is_early: 0 as const }))
  const levels = JSON.stringify(Array.from({ length: 320 }, () => 0.5))
  await db
    .update(tracks)
    .set({ ...uploaded(row), status: 'ready', job_id: 'done', duration: 12.346, levels, info: { codec: 'mp3' }, files })
    .where(eq(tracks.id, id))
  return id
}

/** Puts the files of a ready track into R2. */
export async function storeFiles(track_id: string) {
  const files = await filesOf(track_id)
  await Promise.all(files.map(({ path }) => env.MEDIA.put(path, 'audio')))
}

/** The Durable Object of the one transcoder that there is. */
export const follower = () => env.TRANSCODER.getByName('slot-0')

const { value: openForReal } = Object.getOwnPropertyDescriptor(TranscoderContainer.prototype, 'open')! as {
  value: TranscoderContainer['open']
}

/** Until the test ends, jobs are followed with these bindings; nothing comes back by itself, the test delivers each message. */
export function followWith(bindings: Env): void {
  const changed = { env: { ...bindings, TRANSCODE_QUEUE: silent } }
  const spy = vi.spyOn(TranscoderContainer.prototype, 'open')
  spy.mockImplementation(() => Reflect.apply(openForReal, changed, []))
  onTestFinished(() => spy.mockRestore())
}

/** Waits until this job is not followed, or none is. */
export const unfollowed = (job_id?: string) =>
  eventually(() =>
    runInDurableObject(follower(), ({ activeJobs }) => (job_id ? !activeJobs.has(job_id) : activeJobs.size === 0)),
  )

/** A track in `processing` whose job nobody was told of yet: the test delivers the message itself. */
export async function aTrackWithJob({ size = 10, shop }: { size?: number; shop?: Shop } = {}) {
  const { key, organization_id, collection_id } = shop ?? (await aShop())
  const { id: track_id } = await aTrack(key, collection_id)
  const row = await trackRow(track_id)
  await upload(row)
  const payload = { kind: 'transcode' as const, track_id, source_path: uploadPath(row), source_size: size }
  const job = insertTranscode(
    { env, db, now: Date.now(), forget: () => undefined, actor: null },
    organization_id,
    payload,
  )
  await db.batch([
    job.insert,
    db
      .update(tracks)
      .set({ ...uploaded(row), status: 'processing', job_id: job.id, progress: 0 })
      .where(eq(tracks.id, track_id)),
  ])
  return {
    key,
    organization_id,
    collection_id,
    track_id: track_id,
    job_id: job.id,
    row,
    read: async () => (await ok('GET', `/v1/track/${track_id}`, { key })).track,
    /** Delivers a message, and waits until the job is followed no more. */
    async run(bindings: Env = noting) {
      await deliver('transcode', { job_id: job.id }, { bindings })
      await unfollowed(job.id)
      const { state, lease_until } = await jobRow(job.id)
      return state === 'open'
        ? { ended: false, retried_in: Math.round((lease_until - Date.now()) / 1000) }
        : { ended: true }
    },
    job: () => jobRow(job.id),
    /** What time or another worker does to a job: `lease_until: 0` is a lease that ran out. */
    changeJob: (values: Partial<typeof jobs.$inferSelect>) => db.update(jobs).set(values).where(eq(jobs.id, job.id)),
  }
}

/** Hands one message to the consumer of a queue; answers whether it was acknowledged, and else when it comes again. */
export async function deliver(
  queue: string,
  body: unknown,
  options: { attempts?: number; bindings?: Env | undefined } = {},
) {
  // Of a second deployment, whose queues have other names.
  const batch = createMessageBatch(`tonearm-staging-${queue}`, [
    { id: 'message', timestamp: new Date(), attempts: options.attempts ?? 1, body },
  ])
  const context = createExecutionContext()
  // The result of a batch does not tell the delay, so the call is watched.
  const retry = vi.spyOn(batch.messages[0]!, 'retry')
  await worker.queue(batch, options.bindings ?? noting)
  const { explicitAcks, retryMessages } = await getQueueResult(batch, context)
  expect(retryMessages).toHaveLength(retry.mock.calls.length)
  return { acknowledged: explicitAcks.includes('message'), retried_in: retry.mock.calls[0]?.[0]?.delaySeconds }
}

/** The real bindings, but something happens between what a handler has read and the batch that it writes. */
export const beforeBatch = (happens: () => Promise<unknown>): Env => ({
  ...env,
  DB: new Proxy(env.DB, {
    get(database, name: keyof D1Database) {
      if (name !== 'batch') return database[name].bind(database)
      return async (statements: D1PreparedStatement[]) => {
        await happens()
        return database.batch(statements)
      }
    },
  }),
})

/** Deletes the same thing several times at once: all have found it before the first one deletes it. Answers the statuses. */
export async function deleteAtOnce(path: string, key: string, times = 4) {
  const { promise, resolve } = Promise.withResolvers<void>()
  let waiting = 0
  const bindings = beforeBatch(() => {
    if (++waiting === times) resolve()
    return promise
  })
  const answers = await Promise.all(Array.from({ length: times }, () => call('DELETE', path, { key, bindings })))
  return answers.map(({ status }) => status).toSorted((a, b) => a - b)
}

/** What R2 sends when an object was written. */
export const uploadEvent = (key: string) => ({
  account: 'account',
  action: 'PutObject',
  bucket: 'tonearm-media',
  object: { key, size: 10, eTag: 'etag' },
  eventTime: new Date().toISOString(),
})

/** The cron, as it runs every minute. */
export const runSweep = (bindings: Env = noting) =>
  worker.scheduled(createScheduledController({ cron: '* * * * *' }), bindings)

/** Stops the Worker's `Date`, which is this isolate's, until the test ends; `vi.setSystemTime` moves it. */
export function stopTime(): void {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** Lets hours pass for the Worker, which runs in this isolate; `vi.useRealTimers()` ends it. */
export function laterBy(hours: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * 3600_000 })
}

/** Milliseconds after which the local queue is late: once, on one core, it kept the messages of a test for over two minutes. */
const LATE = 15_000

/** Waits for what queues do in their own time. What was sent and is late comes once more; on busy cores it may do so before it is done. */
export async function eventually<T>(check: () => Promise<T>) {
  let began = performance.now()
  const look = async () => {
    const found = await check()
    if (found || performance.now() - began < LATE) return found
    for (const body of nudges.splice(0)) await deliver('transcode', body)
    began = performance.now()
    return found
  }
  return vi.waitUntil(look, { timeout: 120_000, interval: 25 })
}

export const storedFiles = async (prefix = '') => (await env.MEDIA.list({ prefix })).objects.map(({ key }) => key)

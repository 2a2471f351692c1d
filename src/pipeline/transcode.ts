import { and, eq, sql } from 'drizzle-orm'

import { signUrl, trackPath } from '../adapters/media.ts'
import { readNdjson } from '../adapters/ndjson.ts'
import { tracks } from '../adapters/schema.ts'
import { callTranscoder } from '../adapters/transcoder.ts'
import { jobs } from '../adapters/work_schema.ts'
import type { System } from '../context.ts'
import { JobEvent, JobEventType, type JobVariant, type TranscodeJob } from '../contract/job.ts'
import { CATALOGUE, type CatalogueEntry } from '../contract/variant.ts'
import { describeError } from '../errors.ts'
import { signCoverOutputs } from './cover.ts'
import { failTranscode, finishTranscode, trackOf } from './finish.ts'
import { holds, type Job, renewLease } from './job.ts'
import { backoff, done, MAX_ATTEMPTS, type Outcome } from './outcome.ts'

/** Seconds: long enough for a job that waits in the transcoder's queue behind long ones. */
const URL_TTL = 6 * 3600
/** A queue consumer lives 15 minutes; before that the job goes on in a new message, which re-attaches (platform.md §7). */
const ATTACHED_FOR = 12 * 60_000
/** How long a full transcoder is waited for, in milliseconds, before that counts as a fault. */
const BUSY_FOR = 6 * 3600_000
/** Milliseconds between two writes of the progress, which also renew the lease. */
const PROGRESS_EVERY = 2_000

type Track = typeof tracks.$inferSelect

/** Storage prefix of what one job makes; a new job never overwrites what is being played. */
const outputPath = (track: Track, job: Job) => `${trackPath(track)}/${job.id.slice(-8)}`
const filePath = (base: string, { index, extension }: CatalogueEntry) => `${base}/${index}.${extension}`

/** Runs one transcode job: hands it to the transcoder, follows it, writes down what came of it. */
export async function transcode(system: System, job: Job): Promise<Outcome> {
  if (job.payload.kind !== 'transcode') throw new Error('not a transcode job')
  const { payload } = job
  const track = await system.db
    .select()
    .from(tracks)
    .where(and(eq(tracks.id, payload.track_id), eq(tracks.job_id, job.id)))
    .get()
  if (!track) {
    await system.db.update(jobs).set({ state: 'done' }).where(holds(job))
    return done
  }
  if (job.attempt > MAX_ATTEMPTS) {
    return giveUp(system, job, 'The transcoder stopped again and again while it worked on this file')
  }
  let response: Response
  try {
    response = await callTranscoder(system.env, job.id, `/jobs/${job.id}`, await jobRequest(system.env, job, track))
  } catch (error) {
    console.error(JSON.stringify({ event: 'transcoder_unreachable', job_id: job.id, error: describeError(error) }))
    return { end: 'retry', delay: 5, counts: false }
  }
  if (response.status === 503 && system.now - job.created_at < BUSY_FOR) {
    await response.body?.cancel()
    return { end: 'again', delay: Number(response.headers.get('retry-after')) || 15 }
  }
  if (!response.ok || !response.body) {
    const refusal = { status: response.status, body: (await response.text()).slice(0, 1000) }
    console.error(JSON.stringify({ event: 'transcoder_refused', job_id: job.id, ...refusal }))
    // Not the file's fault: the dead-letter queue ends this, should it last.
    return { end: 'retry', delay: 5, counts: false }
  }
  return follow(system, job, track, response.body)
}

async function jobRequest(env: Env, job: Job, track: Track): Promise<TranscodeJob> {
  if (job.payload.kind !== 'transcode') throw new Error('not a transcode job')
  const base = outputPath(track, job)
  const sign = (path: string) => signUrl(env, 'PUT', path, { expires_in: URL_TTL })
  return {
    version: 1,
    job_id: job.id,
    pass: job.pass,
    source: {
      url: await signUrl(env, 'GET', job.payload.source_path, { expires_in: URL_TTL }),
      size: job.payload.source_size,
    },
    max_duration: Number(env.MAX_DURATION_SECONDS),
    variants: await Promise.all(
      CATALOGUE.filter((entry) => entry.type !== 'original').map(async (entry) =>
        toJobVariant(entry, await sign(filePath(base, entry))),
      ),
    ),
    cover: track.cover_path || track.cover_job_id ? null : await signCoverOutputs(env, `${base}/cover`, URL_TTL),
    early: null,
  }
}

function toJobVariant(entry: CatalogueEntry, url: string): JobVariant {
  const output = { index: entry.index, url, content_type: entry.content_type }
  const { codec = 'aac', bitrate, start = 0, length = 30 } = entry
  switch (entry.type) {
    case 'waveform':
    case 'analysis':
      return { ...output, kind: entry.type }
    case 'preview':
      return { ...output, kind: 'preview', codec, bitrate, start, length }
    default:
      return { ...output, kind: 'audio', codec, bitrate }
  }
}

async function follow(system: System, job: Job, track: Track, body: ReadableStream<Uint8Array>): Promise<Outcome> {
  const until = Date.now() + ATTACHED_FOR
  let written = 0
  for await (const event of jobEvents(job, body)) {
    if (event.type === 'result') {
      const base = outputPath(track, job)
      const paths = Object.fromEntries(CATALOGUE.map((entry) => [entry.index, filePath(base, entry)]))
      await finishTranscode(system, job, track, event.result, paths, base)
      return done
    }
    if (event.type === 'error') {
      if (event.error.code === 'cancelled') return { end: 'retry', delay: 5, counts: false }
      if (event.error.retryable && job.attempt < MAX_ATTEMPTS) {
        return { end: 'retry', delay: backoff(job.attempt), counts: true }
      }
      await failTranscode(system, job, event.error.code, event.error.message)
      return done
    }
    if (event.type === 'fallback') await fallBack(system, job)
    if (Date.now() - written < PROGRESS_EVERY) continue
    written = Date.now()
    if (!(await renewLease(system, job))) return done
    if (event.type === 'progress') await writeProgress(system, job, event.fraction)
    if (Date.now() > until) return { end: 'again', delay: 1 }
  }
  // The stream ended without an answer: the transcoder died. The second time, perhaps of this file.
  if (job.attempt >= MAX_ATTEMPTS) return giveUp(system, job, 'The transcoder stopped while it worked on this file')
  if (job.attempt >= 2) await fallBack(system, job)
  return { end: 'retry', delay: 2, counts: true }
}

/** The events of a job, up to where the stream breaks or says something that is none. */
async function* jobEvents(job: Job, body: ReadableStream<Uint8Array>): AsyncGenerator<JobEvent> {
  const lines = readNdjson(body)
  for (;;) {
    let event: JobEvent
    try {
      const { value, done: ended } = await lines.next()
      if (ended) return
      // A newer transcoder may say more than this Worker knows.
      if (!JobEventType.safeParse(value).success) continue
      event = JobEvent.parse(value)
    } catch (error) {
      const lost = { job_id: job.id, attempt: job.attempt, error: describeError(error) }
      console.error(JSON.stringify({ event: 'transcoder_lost', ...lost }))
      return
    }
    yield event
  }
}

const giveUp = async (system: System, job: Job, message: string): Promise<Outcome> => {
  await failTranscode(system, job, 'internal', message)
  return done
}

const ofJob = (job: Job) => and(trackOf(job), sql`exists (select 1 from jobs where ${holds(job)})`)

/** From here on the tolerant pass works on the file, also if the job is taken again. */
async function fallBack({ db }: System, job: Job): Promise<void> {
  await db.batch([
    db.update(jobs).set({ pass: 'tolerant' }).where(holds(job)),
    db.update(tracks).set({ status: 'fallback_processing' }).where(ofJob(job)),
  ])
}

const writeProgress = ({ db }: System, job: Job, progress: number) =>
  db
    .update(tracks)
    .set({ progress: Math.round(progress * 1000) / 1000 })
    .where(ofJob(job))

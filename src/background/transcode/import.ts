import { and, eq, sql } from 'drizzle-orm'

import { findFile } from '../../adapters/bucket/media.ts'
import { unseal } from '../../adapters/crypto/seal.ts'
import { collections, organizations, tracks } from '../../adapters/db/schema/library.ts'
import { sourceUrls } from '../../adapters/db/schema/source_urls.ts'
import { jobs, type OutputUpload } from '../../adapters/db/schema/work.ts'
import type { System } from '../../context.ts'
import type { ImportJob, JobError } from '../../contract/job.ts'
import { DONE, endJob, isLeaseHolder, type Job, LEASE } from '../../domain/jobs.ts'
import { hostsOf, sealPurpose } from '../../domain/source_url.ts'
import { abortOutputs, joinOutputs, openUpload, PARTS_LOST, signParts } from '../../domain/transcode/output_parts.ts'
import { URL_TTL } from '../../domain/transcode/request.ts'
import { trackOf } from '../../domain/transcode/track_job.ts'
import { attach, type FollowOutcome, type JobTranscoder } from './attach.ts'
import { failImport, finishImport, nameTrack } from './import_result.ts'
import { jobEvents } from './job_stream.ts'
import { renewLease } from './progress.ts'
import { afterCrash, afterError, giveUpIfExhausted, retryLater } from './retry_policy.ts'

/** Imports: the transcoder fetches the file of a track from another server and stores it like an upload (docs/decisions/0127). */

/** Milliseconds between two renewals of the lease, and minimum milliseconds between two writes of the progress. */
const RENEW_EVERY = LEASE / 3
const PROGRESS_EVERY = 5000
/** Minimum difference between two fractions that are written. */
const PROGRESS_STEP = 0.1

/** Starts a leased import or reconnects to it, follows it until `signal` aborts, and writes the outcome. */
export async function followImport(
  system: System,
  job: Job<'import'>,
  transcoder: JobTranscoder,
  signal: AbortSignal,
): Promise<FollowOutcome> {
  const { env } = system
  const source = await findSource(system, job)
  const upload = source && (job.payload.uploads?.[0] ?? (await pinUpload(system, job)))
  if (!source || !upload) {
    // The track was deleted, or another file has arrived. The transcoder may still work on an earlier attempt.
    await transcoder.cancel()
    await abortOutputs(env, job.payload.uploads)
    await endJob(system, job)
    return DONE
  }
  const uploads = [upload]
  if (await findFile(env, job.payload.path)) {
    // An earlier run stored the file and stopped before it ended the job.
    await finishImport(system, job)
    return DONE
  }
  const end = async (outcome: FollowOutcome) => {
    if (outcome.end === 'done') await abortOutputs(env, uploads)
    return outcome
  }
  const url =
    source.sealed && (await unseal(env.SIGNING_SECRET, sealPurpose(source.id), source.sealed).catch(() => null))
  if (!url) {
    // SIGNING_SECRET has changed.
    const message = 'The source_url can no longer be read. Create the track again'
    await failImport(system, job, 'upload_expired', message)
    return end(DONE)
  }
  const exhausted = await giveUpIfExhausted(system, job)
  if (exhausted) return end(exhausted)
  const request = async (): Promise<ImportJob> => ({
    version: 1,
    job_id: job.id,
    source_url: url,
    hosts: hostsOf(env),
    max_size: job.payload.max_size,
    parts: await signParts(env, upload, URL_TTL),
  })
  const attached = await attach(system, job, transcoder, 'imports', request, signal)
  return end('end' in attached ? attached : await followEvents(system, job, attached.body, uploads, transcoder, signal))
}

/** Reads the encrypted URL of the track that the job still fetches. Returns undefined if the track needs the job no longer. */
const findSource = ({ db }: System, job: Job<'import'>) =>
  db
    .select({ id: tracks.id, sealed: sourceUrls.sealed })
    .from(tracks)
    .innerJoin(collections, eq(collections.id, tracks.collection_id))
    .innerJoin(organizations, eq(organizations.id, tracks.organization_id))
    .leftJoin(sourceUrls, eq(sourceUrls.track_id, tracks.id))
    .where(and(trackOf(job), eq(tracks.status, 'initializing')))
    .get()

/** Starts the multipart upload of the file and stores it in the job. Returns null if the lease was lost. */
async function pinUpload({ db, env }: System, job: Job<'import'>): Promise<OutputUpload | null> {
  const { path, max_size } = job.payload
  const upload = await openUpload(env, 'source', path, max_size)
  const payload = sql`json_set(payload, '$.uploads', json(${JSON.stringify([upload])}))`
  const pinned = await db.update(jobs).set({ payload }).where(isLeaseHolder(job)).returning({ id: jobs.id })
  if (pinned.length > 0) return upload
  await abortOutputs(env, [upload])
  return null
}

async function followEvents(
  system: System,
  job: Job<'import'>,
  body: ReadableStream<Uint8Array>,
  uploads: OutputUpload[],
  transcoder: JobTranscoder,
  signal: AbortSignal,
): Promise<FollowOutcome> {
  let renewedAt = job.lease_until - LEASE
  const written = { at: Date.now(), fraction: 0 }
  for await (const event of jobEvents(job, body, signal)) {
    if (event.type === 'silence') return retryLater(system, job, 5)
    if (event.type === 'error') return afterError(system, job, event.error)
    if (event.type === 'imported') {
      const { size, parts, file_name } = event
      // A file that was sent to the upload URL meanwhile is used instead; joining the parts would replace it.
      if (!(await findSource(system, job)) || (await findFile(system.env, job.payload.path))) {
        await abortOutputs(system.env, uploads)
        await finishImport(system, job)
        return DONE
      }
      await nameTrack(system, job, file_name)
      if (await joinOutputs(system.env, uploads, [{ index: 'source', size, parts }])) {
        await finishImport(system, job)
        return DONE
      }
      // Without this, the transcoder would repeat its result.
      await transcoder.cancel()
      return afterError(system, job, PARTS_LOST satisfies JobError)
    }
    const now = Date.now()
    const fraction = event.type === 'progress' ? event.fraction : written.fraction
    const hasAdvanced = fraction - written.fraction >= PROGRESS_STEP && now - written.at >= PROGRESS_EVERY
    if (!hasAdvanced && now - renewedAt < RENEW_EVERY) continue
    const isRenewed = await renewLease(system, job, hasAdvanced ? fraction : null)
    if (isRenewed === false) return DONE
    if (isRenewed) renewedAt = now
    if (isRenewed && hasAdvanced) Object.assign(written, { at: now, fraction })
  }
  return signal.aborted ? { end: 'held' } : afterCrash(system, job, false)
}

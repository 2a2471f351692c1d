import { and, eq, isNotNull, sql } from 'drizzle-orm'

import { receive } from '../adapters/bucket/incoming.ts'
import { signCoverOutputs, signUrl } from '../adapters/bucket/media.ts'
import { newId } from '../adapters/crypto/id.ts'
import type { CoverGrant } from '../adapters/crypto/token.ts'
import { runBatch } from '../adapters/db/database.ts'
import { collections, playlists, tracks } from '../adapters/db/schema/library.ts'
import { jobs } from '../adapters/db/schema/work.ts'
import { wakeIfSubscribed } from '../adapters/queue/wake_webhooks.ts'
import { callForCover } from '../adapters/transcoder/client.ts'
import type { System } from '../context.ts'
import { CoverAnswer } from '../contract/job.ts'
import { describeError, notFound } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { purge, purgeLaterFrom } from './cleanup/purge.ts'
import {
  backoff,
  claim,
  DONE,
  endJob,
  insertJob,
  type Job,
  MAX_ATTEMPTS,
  type Outcome,
  releaseLease,
  sendJob,
  ifJustEnded,
} from './jobs.ts'
import { SLOTS } from './transcode/slots.ts'

const URL_TTL = 3600

const OWNERS = { track: tracks, collection: collections, playlist: playlists }

/**
 * Stores an image while it arrives, and resizes it immediately. `most` is the maximum number of its bytes, if that is known. Returns `processing` when
 * the transcoder is not available; then the job resizes the image later. Throws 404 when the owner no longer exists, and the errors of `image`.
 */
export async function processCover(
  system: System,
  grant: CoverGrant,
  image: AsyncIterable<Uint8Array>,
  most?: number,
): Promise<'ready' | 'processing' | CoverFault> {
  const { id } = await startCover(system, grant, image, most)
  const job = (await claim(system, id)) as Job<'cover'> | null
  if (!job) return 'ready'
  const outcome = await runCoverJob(system, job)
  system.invalidate(grant.organization_id)
  await wakeIfSubscribed(system, grant.organization_id)
  if (outcome.end === 'done') return outcome.fault ?? 'ready'
  await releaseLease(system, job, outcome.delay, false)
  await sendJob(system, job, outcome.delay)
  return 'processing'
}

/** Stores an uploaded image and inserts its job. */
async function startCover(system: System, grant: CoverGrant, image: AsyncIterable<Uint8Array>, most?: number) {
  const { db, env } = system
  const folder = `${grant.organization_id}/${grant.collection_id}/cover-${newId().slice(-12)}`
  const source_path = `uploads/${folder}`
  const incoming = await receive(env, source_path, image, most)
  const job = insertJob({ ...system, now: Date.now() }, grant.organization_id, {
    kind: 'cover',
    owner: grant.owner,
    owner_id: grant.owner_id,
    source_path,
    source_size: incoming.size,
    cover_path: `media/${folder}`,
  })
  const table = OWNERS[grant.owner]
  const [, owners] = await db.batch([
    job.insert,
    db.update(table).set({ cover_job_id: job.id }).where(eq(table.id, grant.owner_id)).returning({ id: table.id }),
  ])
  if (owners.length === 0) {
    await Promise.all([db.delete(jobs).where(eq(jobs.id, job.id)), incoming.discard()])
    throw notFound(grant.owner)
  }
  // The image is stored after the job's row: an object without a row would never be deleted, whereas a job without an image simply fails.
  await incoming.store()
  return job
}

/**
 * Returns one of the transcoders that are running a job, at random; the first transcoder if none is. The other ones may be stopped, and starting one
 * takes seconds.
 */
async function chooseInstance({ db, env }: System): Promise<number> {
  if (env.TRANSCODER_URL) return 0
  const instance = sql<number>`slot / ${sql.raw(String(SLOTS))}`.as('instance')
  const running = await db.selectDistinct({ instance }).from(jobs).where(isNotNull(jobs.slot))
  return running[Math.floor(Math.random() * running.length)]?.instance ?? 0
}

type CoverFault = Extract<CoverAnswer, { ok: false }>['error']

/** Generates the squares and the palette of a cover. `fault` describes what is wrong with the image. */
export async function runCoverJob(system: System, job: Job<'cover'>): Promise<Outcome & { fault?: CoverFault }> {
  const { db, env } = system
  const { owner, owner_id, source_path, source_size, cover_path } = job.payload
  const table = OWNERS[owner]
  /** Purges the image later, in case the deletion below fails. */
  const purgeImageLater = (state: 'done' | 'failed', prefixes = sql`'[]'`) => {
    const jobHasEnded = sql`(select 1) where ${ifJustEnded(job, state)}`
    return purgeLaterFrom(system, job.organization_id, sql`json_array(${source_path})`, jobHasEnded, prefixes)
  }
  const deleteImage = () => env.MEDIA.delete(source_path).catch(() => undefined)
  let answer: CoverAnswer
  try {
    const request = {
      version: 1,
      source: { url: await signUrl(env, 'GET', source_path, { expires_in: URL_TTL }), size: source_size },
      outputs: await signCoverOutputs(env, cover_path, URL_TTL),
    }
    const response = await callForCover(env, await chooseInstance(system), request, AbortSignal.timeout(30_000))
    answer = CoverAnswer.parse(await response.json())
  } catch (error) {
    log('error', 'cover_failed', { job_id: job.id, error: describeError(error) })
    return { end: 'retry', delay: backoff(job.attempt), counts: false }
  }
  if (!answer.ok) {
    if (answer.error.retryable && job.attempt < MAX_ATTEMPTS)
      return { end: 'retry', delay: backoff(job.attempt), counts: true }
    await db.batch([
      // This statement must come first: the trigger that records the event of the cover's owner reads the reason from the job.
      endJob(system, job, 'failed', { ...answer.error }),
      // Removes the job from its owner, so that a cover embedded in the audio can be used again.
      db
        .update(table)
        .set({ cover_job_id: null })
        .where(and(eq(table.id, owner_id), eq(table.cover_job_id, job.id), ifJustEnded(job, 'failed'))),
      purgeImageLater('failed'),
    ])
    await deleteImage()
    return { ...DONE, fault: answer.error }
  }
  const { image_colors, large = null } = answer.result
  const ofOwner = eq(table.id, owner_id)
  const newest = and(ofOwner, eq(table.cover_job_id, job.id), ifJustEnded(job, 'done'))
  // The squares to purge later: normally the old ones, because pages may still show them. If a newer job has replaced this one, or the owner is
  // deleted, the new squares are unused and are purged instead.
  const unused = sql`coalesce((select iif(cover_path <> ${cover_path}, json_array(cover_path || '/'), '[]')
    from ${table} where ${newest}), json_array(${`${cover_path}/`}))`
  const ownerRow = db.select({ cover_job_id: table.cover_job_id }).from(table).where(ofOwner)
  const resultOf = await runBatch(db, [
    endJob(system, job),
    purgeImageLater('done', unused),
    db
      .update(table)
      .set({ cover_path, cover_colors: image_colors, cover_size: large, updated_at: system.now })
      .where(newest),
    ownerRow,
  ])
  await deleteImage()
  // No page has shown the new squares, so they are deleted immediately.
  if (resultOf(ownerRow)[0]?.cover_job_id !== job.id) await purge(system, job.organization_id, [`${cover_path}/`])
  return DONE
}

import { and, eq, sql } from 'drizzle-orm'

import { newId } from '../adapters/id.ts'
import { signUrl } from '../adapters/media.ts'
import { collections, playlists, tracks } from '../adapters/schema.ts'
import type { CoverGrant } from '../adapters/token.ts'
import { callTranscoder } from '../adapters/transcoder.ts'
import { jobs } from '../adapters/work_schema.ts'
import type { System } from '../context.ts'
import { CoverAnswer, type CoverOutputs } from '../contract/job.ts'
import { describeError, notFound } from '../errors.ts'
import { holds, insertJob, type Job } from './job.ts'
import { backoff, done, MAX_ATTEMPTS, type Outcome } from './outcome.ts'
import { purge, purgeLater } from './purge.ts'

const URL_TTL = 3600

/** Signed `PUT` URLs of the three squares below a storage prefix. */
export async function signCoverOutputs(env: Env, cover_path: string, expires_in: number): Promise<CoverOutputs> {
  const sign = (size: string) => signUrl(env, 'PUT', `${cover_path}/${size}.jpg`, { expires_in })
  const [icon, small, regular] = await Promise.all([sign('icon'), sign('small'), sign('regular')])
  return { icon, small, regular }
}

const OWNERS = { track: tracks, collection: collections, playlist: playlists }

/** Keeps an uploaded image and writes the job that cuts it. 404 when the owner is gone. */
export async function startCover(
  system: System,
  grant: CoverGrant,
  image: Uint8Array,
): Promise<{ id: string; payload: Job['payload'] }> {
  const { db, env } = system
  const folder = `${grant.organization_id}/${grant.collection_id}/cover-${newId().slice(-12)}`
  const source_path = `uploads/${folder}`
  await env.MEDIA.put(source_path, image)
  const job = insertJob(system, grant.organization_id, {
    kind: 'cover',
    owner: grant.owner,
    owner_id: grant.owner_id,
    source_path,
    source_size: image.length,
    cover_path: `media/${folder}`,
  })
  const table = OWNERS[grant.owner]
  const [, owners] = await db.batch([
    job.insert,
    db.update(table).set({ cover_job_id: job.id }).where(eq(table.id, grant.owner_id)).returning({ id: table.id }),
  ])
  if (owners.length === 0) {
    await db.delete(jobs).where(eq(jobs.id, job.id))
    await env.MEDIA.delete(source_path)
    throw notFound(grant.owner)
  }
  return job
}

export type CoverFault = Extract<CoverAnswer, { ok: false }>['error']

/** Has the squares cut and the palette taken. `fault` says what was wrong with the image. */
export async function cutCover(system: System, job: Job): Promise<Outcome & { fault?: CoverFault }> {
  if (job.payload.kind !== 'cover') throw new Error('not a cover job')
  const { db, env } = system
  const { owner, owner_id, source_path, source_size, cover_path } = job.payload
  const table = OWNERS[owner]
  let answer: CoverAnswer
  try {
    const request = {
      version: 1,
      source: { url: await signUrl(env, 'GET', source_path, { expires_in: URL_TTL }), size: source_size },
      outputs: await signCoverOutputs(env, cover_path, URL_TTL),
    }
    const response = await callTranscoder(env, job.id, '/covers', request, AbortSignal.timeout(30_000))
    answer = CoverAnswer.parse(await response.json())
  } catch (error) {
    console.error(JSON.stringify({ event: 'cover_failed', job_id: job.id, error: describeError(error) }))
    return { end: 'retry', delay: backoff(job.attempt), counts: false }
  }
  if (!answer.ok) {
    if (answer.error.retryable && job.attempt < MAX_ATTEMPTS)
      return { end: 'retry', delay: backoff(job.attempt), counts: true }
    await db.batch([
      // As if it had never been sent: a cover that is embedded in the audio may still come.
      db
        .update(table)
        .set({ cover_job_id: null })
        .where(
          and(
            eq(table.id, owner_id),
            eq(table.cover_job_id, job.id),
            sql`exists (select 1 from jobs where ${holds(job)})`,
          ),
        ),
      db
        .update(jobs)
        .set({ state: 'failed', error: { ...answer.error } })
        .where(holds(job)),
    ])
    await env.MEDIA.delete(source_path)
    return { ...done, fault: answer.error }
  }
  const newest = and(
    eq(table.id, owner_id),
    eq(table.cover_job_id, job.id),
    sql`exists (select 1 from jobs where id = ${job.id} and attempt = ${job.attempt} and state = 'done')`,
  )
  const [before, , updated] = await db.batch([
    db
      .select({ cover_path: table.cover_path, cover_job_id: table.cover_job_id })
      .from(table)
      .where(eq(table.id, owner_id)),
    db.update(jobs).set({ state: 'done' }).where(holds(job)),
    db
      .update(table)
      .set({ cover_path, cover_colors: answer.result.image_colors })
      .where(newest)
      .returning({ id: table.id }),
  ])
  // Another worker of the same job was faster: the squares are in use.
  if (updated.length === 0 && before[0]?.cover_job_id === job.id) return done
  await env.MEDIA.delete(source_path)
  // Either the old cover or, when this one was overtaken or its owner deleted, the new one is nobody's now.
  const orphan = updated.length > 0 ? before[0]?.cover_path : cover_path
  if (!orphan) return done
  // The old squares may still be on a page.
  if (updated.length > 0) await purgeLater(system, job.organization_id, [`${orphan}/`], [])
  else await purge(system, job.organization_id, [`${orphan}/`])
  return done
}

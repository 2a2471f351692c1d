import { and, asc, eq, gt, inArray, type SQL, sql } from 'drizzle-orm'

import { findFile } from '../../adapters/bucket/media.ts'
import { tracks } from '../../adapters/db/schema/library.ts'
import { reprocesses } from '../../adapters/db/schema/work.ts'
import type { System } from '../../context.ts'
import { DONE, endJob, type Job, type Outcome, ifJustEnded, ifLeaseHeld } from '../../domain/jobs.ts'
import { startTranscode } from '../../domain/transcode/start.ts'
import { isMissingVariants } from '../../domain/transcode/variants.ts'

/**
 * Reprocesses the tracks of a collection, a few at a time. They rank after every upload. At most two are open at any time, across all collections, so
 * a new upload never waits for more than two running jobs of a reprocess.
 */
const AT_ONCE = 2
/** Number of tracks that each query of a run reads: few at first, because a track that is due is often among the next ones. */
const PAGES = [10, 100, 100, 100, 100]
/**
 * Maximum number of tracks in progress, including tracks with jobs that others have started. When it is reached, the scan pauses until some of the
 * tracks are done.
 */
const MAX_WAITING = 20

type Run = typeof reprocesses.$inferSelect

/** The columns that the scan reads. If `tried` is set, the track's status is the result of this reprocess. */
const columns = (run: Run) => ({
  id: tracks.id,
  organization_id: tracks.organization_id,
  status: tracks.status,
  source_path: tracks.source_path,
  made_with: tracks.made_with,
  created_at: tracks.created_at,
  tried: sql<number>`exists (
    select 1 from jobs where id = ${tracks.job_id} and payload ->> 'reprocess_id' = ${run.job_id})`.as('tried'),
})
const selectTracks = ({ db }: System, run: Run, where: SQL | undefined, limit: number) =>
  db
    .select(columns(run))
    .from(tracks)
    .where(and(eq(tracks.collection_id, run.collection_id), where))
    .orderBy(asc(tracks.id))
    .limit(limit)
type ScannedTrack = Awaited<ReturnType<typeof selectTracks>>[number]

function classify(track: ScannedTrack, run: Run): 'busy' | 'due' | 'done' | 'failed' {
  if (track.status === 'processing' || track.status === 'fallback_processing') return 'busy'
  if (track.tried) return track.status === 'ready' ? 'done' : 'failed'
  if (track.source_path === null) return 'done'
  // After a failed upload, `made_with` still belongs to the previous upload.
  return run.all || track.status !== 'ready' || isMissingVariants(run.wanted, track.made_with) ? 'due' : 'done'
}

/** The values that one run of the job changes. */
type Step = Pick<Run, 'cursor' | 'waiting' | 'done' | 'failed'> & { slots: number; ended: boolean }

/**
 * Executes one run of a collection's reprocess: counts the tracks that are done or failed, starts the transcodes that are due, and saves its
 * position.
 */
export async function runReprocess(system: System, job: Job<'reprocess'>): Promise<Outcome> {
  const { db } = system
  const isCurrentRun = and(eq(reprocesses.collection_id, job.payload.collection_id), eq(reprocesses.job_id, job.id))
  const [[run], [open]] = await db.batch([
    db.select().from(reprocesses).where(isCurrentRun),
    db.select({ count: openCount.as('count') }).from(sql`(select 1)`),
  ])
  // The collection was deleted, or a newer reprocess has started.
  if (run?.state !== 'running') {
    await endJob(system, job)
    return DONE
  }
  const { cursor, waiting } = run
  const step: Step = { cursor, waiting, done: run.done, failed: run.failed, slots: AT_ONCE - open!.count, ended: false }
  await reconcile(system, run, step)
  await scan(system, run, step)
  const { slots: _, ended, ...values } = step
  const finished = ended && step.waiting.length === 0
  const write = (jobCondition: SQL, finalValues: Partial<Run> = {}) =>
    db
      .update(reprocesses)
      .set({ ...values, ...finalValues })
      .where(and(isCurrentRun, jobCondition))
  if (finished) {
    const finalValues = { state: 'done' as const, finished_at: Date.now(), total: step.done + step.failed }
    await db.batch([endJob(system, job), write(ifJustEnded(job, 'done'), finalValues)])
  } else {
    await db.batch([write(ifLeaseHeld(job))])
  }
  if (finished) return DONE
  const hasAdvanced = step.cursor !== cursor || step.done + step.failed > run.done + run.failed
  return { end: 'again', delay: hasAdvanced ? 1 : 5 }
}

const openCount = sql<number>`(select count(*) from jobs where state = 'open' and is_background = 1)`

/** Checks the tracks that were in progress at the end of the previous run. */
async function reconcile(system: System, run: Run, step: Step): Promise<void> {
  if (run.waiting.length === 0) return
  const found = await selectTracks(system, run, inArray(tracks.id, run.waiting), run.waiting.length)
  step.waiting = []
  for (const track of found) await process(system, run, step, track)
}

/** Continues the scan of the collection, up to the first track that is due but has to wait. */
async function scan(system: System, run: Run, step: Step): Promise<void> {
  for (const limit of PAGES) {
    const page = await selectTracks(system, run, gt(tracks.id, step.cursor), limit)
    for (const track of page) {
      // A track that is newer than the reprocess was made with the current variants anyway.
      if (track.created_at <= run.started_at) {
        if (step.waiting.length >= MAX_WAITING || (step.slots <= 0 && classify(track, run) === 'due')) return
        await process(system, run, step, track)
      }
      step.cursor = track.id
    }
    step.ended = page.length < limit
    if (step.ended) return
  }
}

/** Counts a track as done or failed, starts its transcode, or adds it to the waiting tracks. */
async function process(system: System, run: Run, step: Step, track: ScannedTrack): Promise<void> {
  const state = classify(track, run)
  if (state === 'done' || state === 'failed') {
    step[state]++
    return
  }
  if (state === 'due' && step.slots > 0) {
    if (!(await startTrack(system, run, track))) {
      step.failed++
      return
    }
    step.slots--
  }
  step.waiting.push(track.id)
}

/** Starts a track's transcode if there is a free slot and no other job has started it. Returns false when the track's source no longer exists. */
async function startTrack(system: System, run: Run, track: ScannedTrack): Promise<boolean> {
  const source = await findFile(system.env, track.source_path)
  if (!source) return false
  const condition = sql`status not in ('processing', 'fallback_processing') and source_path = ${source.path}
    and ${openCount} <= ${AT_ONCE}`
  await startTranscode(system, track, source, condition, { reprocess_id: run.job_id })
  return true
}

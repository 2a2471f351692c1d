import { and, eq, isNotNull, sql } from 'drizzle-orm'

import { newId } from '../../adapters/crypto/id.ts'
import { jobs } from '../../adapters/db/schema/work.ts'
import { instanceOf, instances } from '../../adapters/transcoder/client.ts'
import type { System } from '../../context.ts'
import { describeError } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { claimColumns, leaseExpired, type QueuedJob, releaseLease, sendJob } from '../jobs.ts'
import { isQueued } from './queue.ts'
import { fits, IMPORT_CLASS, instanceOfSlot, SIZE_CLASSES, slotsOf } from './slots.ts'

const { id, slot, rank, tries, state } = jobs

/** Assigns waiting transcodes and imports to free slots of the transcoders: jobs whose lease expired come first, then the others by rank. */
export async function dispatch(system: System): Promise<void> {
  const broken = new Set<number>()
  for (;;) {
    const job = await claimNext(system, broken)
    if (!job) return
    const instance = instanceOfSlot(job.slot!)
    try {
      await instanceOf(system.env, instance).follow({ id: job.id, holder: job.holder })
    } catch (error) {
      log('error', 'hand_over_failed', { job_id: job.id, instance, error: describeError(error) })
      broken.add(instance)
      await releaseLease(system, job, 5, false, job.tries + 1)
      await sendJob(system, job, 5)
    }
  }
}

async function claimNext(system: System, broken: Set<number>): Promise<QueuedJob | null> {
  const { db, env } = system
  for (;;) {
    const firstOfClass = (size_class: number) =>
      db
        .select({ id, rank, tries, attempt: jobs.attempt, size_class: jobs.size_class })
        .from(jobs)
        .where(and(isQueued, eq(jobs.size_class, size_class), leaseExpired()))
        .orderBy(rank)
        .limit(1)
    const [slotJobs, ...heads] = await db.batch([
      db
        .select({ id, slot, is_lost: sql<number>`(state = 'open' and ${leaseExpired()})`.as('is_lost') })
        .from(jobs)
        .where(isNotNull(slot)),
      ...[...SIZE_CLASSES.keys(), IMPORT_CLASS].map(firstOfClass),
    ])
    const expiredJob = slotJobs.find((job) => job.is_lost === 1 && !broken.has(instanceOfSlot(job.slot!)))
    const next =
      expiredJob ?? chooseSlot(instances(env), broken, new Set(slotJobs.map((job) => job.slot!)), heads.flat())
    if (!next) return null
    const job = await claimForSlot(system, next.id, next.slot!)
    if (job) return job
  }
}

type QueueHead = Pick<typeof jobs.$inferSelect, 'id' | 'rank' | 'tries' | 'attempt' | 'size_class'>

/**
 * Picks the first job by rank that fits a free slot. For this job it picks the smallest slot that fits, preferably on a transcoder that is already
 * running, and after a failed attempt a different slot than before. A job whose transcoder crashed is assigned to an idle transcoder if there is one:
 * the job may be the cause, and another crash must not stop healthy jobs.
 */
function chooseSlot(instanceCount: number, broken: Set<number>, takenSlots: Set<number>, heads: QueueHead[]) {
  const transcoders = Array.from({ length: instanceCount }, (_, instance) => ({
    instance,
    slots: slotsOf(instance),
  }))
  const isIdle = ({ slots }: { slots: number[] }) => !slots.some((slotNumber) => takenSlots.has(slotNumber))
  const healthy = transcoders.filter(({ instance }) => !broken.has(instance))
  const [idle, working] = [healthy.filter(isIdle), healthy.filter((transcoder) => !isIdle(transcoder))]
  for (const job of heads.toSorted((a, b) => a.rank! - b.rank!)) {
    const freeSlots = (job.attempt > 0 ? [...idle, ...working] : [...working, ...idle])
      .flatMap(({ slots }) => slots)
      .filter((slotNumber) => !takenSlots.has(slotNumber) && fits(slotNumber, job.size_class))
    if (freeSlots.length > 0) return { id: job.id, slot: freeSlots[job.tries % freeSlots.length]! }
  }
  return null
}

/** Claims a job for a slot. Returns null when another worker has already claimed the job or the slot. */
async function claimForSlot({ db }: System, job_id: string, slotNumber: number): Promise<QueuedJob | null> {
  const holder = newId()
  const [job] = await db
    .update(jobs)
    .set({ ...claimColumns(holder), slot: slotNumber })
    .where(
      and(
        eq(id, job_id),
        eq(state, 'open'),
        sql`(holder is ${holder} or (${leaseExpired()} and not exists (
          select 1 from jobs as other where other.slot = ${slotNumber} and other.id <> ${job_id})))`,
      ),
    )
    .returning()
  return (job as QueuedJob | undefined) ?? null
}

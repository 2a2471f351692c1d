import { heartbeat } from '../adapters/db/heartbeats.ts'
import { isTransientError } from '../adapters/db/retry.ts'
import { wakeIfSubscribed } from '../adapters/queue/wake_webhooks.ts'
import type { System } from '../context.ts'
import { describeError } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { runPurge } from '../domain/cleanup/purge.ts'
import { runCoverJob } from '../domain/cover.ts'
import { ingestPath } from '../domain/ingest.ts'
import {
  backoff,
  claim,
  type Job,
  type JobKind,
  type JobMessage,
  type Outcome,
  releaseLease,
  sendJob,
} from '../domain/jobs.ts'
import type { KeyUse } from '../domain/key_use.ts'
import { dispatch } from '../domain/transcode/dispatch.ts'
import { writeKeyUse } from '../domain/write_key_use.ts'
import { runReprocess } from './transcode/reprocess.ts'
import { sendDue } from './webhooks/send.ts'

/** The message that R2 sends when an object has been written (docs/architecture.md#r2). */
interface UploadEvent {
  action: string
  object: { key: string }
}

/** Queries that are kept to release a job when the others are spent, with their retries. */
const LAST = 20

/** Job kinds that the queue consumer runs itself. Transcodes and imports are not among them: transcode/follower.ts follows them. */
type QueueJobKind = Exclude<JobKind, 'transcode' | 'import'>
const runners: { [K in QueueJobKind]: (system: System, job: Job<K>) => Promise<Outcome> } = {
  reprocess: runReprocess,
  cover: runCoverJob,
  purge: runPurge,
}
/** Runs a job with the runner for its kind. The cast is needed because the compiler cannot infer that the two match. */
const run = (system: System, job: Job<QueueJobKind>) =>
  (runners[job.payload.kind] as (system: System, job: Job<QueueJobKind>) => Promise<Outcome>)(system, job)

/** Consumes the messages of every queue. Each message is acknowledged or retried separately. */
export async function consume(system: System, batch: MessageBatch): Promise<void> {
  system.queries?.keep(LAST)
  const isAlike = roleOf(batch.queue) === 'webhook'
  // All messages of this queue have the same meaning, so handling one of them is enough.
  if (isAlike) for (const message of batch.messages.slice(1)) message.ack()
  for (const message of isAlike ? batch.messages.slice(0, 1) : batch.messages) {
    try {
      const retry_in = await queueHandlers[roleOf(batch.queue)](system, message as Message<never>)
      if (retry_in !== null) {
        message.retry({ delaySeconds: retry_in })
        continue
      }
      message.ack()
    } catch (error) {
      log('error', 'message_failed', { queue: batch.queue, attempt: message.attempts, error: describeError(error) })
      message.retry({ delaySeconds: backoff(message.attempts) })
    }
  }
}

/** The handler of each queue. It returns the seconds after which the message is retried, or null if the message is done. */
const queueHandlers = {
  async ingest(system: System, { body }: Message<UploadEvent>) {
    await heartbeat(system.db, 'event', 60_000)
    await ingestPath(system, body.object.key)
    return null
  },
  /** A message only says that the queue grew; the rows in the database determine which job runs next. */
  async transcode(system: System) {
    await dispatch(system)
    return null
  },
  async task(system: System, message: Message<JobMessage | KeyUse>) {
    if (!('api_key_id' in message.body)) return work(system, message as Message<JobMessage>)
    await writeKeyUse(system, message.body)
    return null
  },
  /** A message only says that a delivery may be due; the rows in the database determine which one. */
  async webhook(system: System) {
    await sendDue(system)
    return null
  },
  /** The queue gave up on this message. Because no request waits for a purge or a cover, the job is released, and the sweep retries it in an hour. */
  async dead(system: System, { body }: Message<Partial<JobMessage>>) {
    log('error', 'dead_letter', { body })
    const job = body.job_id ? await claim(system, body.job_id) : null
    if (job) await releaseLease(system, job, 3600, true)
    return null
  },
}

/** Returns the last part of a queue's name, which is its role: only the beginning of the name differs between deployments. */
function roleOf(queue: string): keyof typeof queueHandlers {
  const role = queue.split('-').at(-1)!
  if (!(role in queueHandlers)) throw new Error(`the name of the queue ${queue} tells no role`)
  return role as keyof typeof queueHandlers
}

async function work(system: System, message: Message<JobMessage>): Promise<number | null> {
  const job = (await claim(system, message.body.job_id)) as Job<QueueJobKind> | null
  if (!job) return null
  let outcome: Outcome
  try {
    outcome = await run(system, job).finally(() => system.invalidate(job.organization_id))
  } catch (error) {
    if (!system.queries?.isSpent) {
      await releaseLease(system, job, backoff(message.attempts), !isTransientError(error))
      throw error
    }
    // The job needs more queries than one invocation may make, so it continues in the next one.
    system.queries.keep(0)
    outcome = { end: 'again', delay: 0 }
  }
  await wakeIfSubscribed(system, job.organization_id)
  if (outcome.end === 'done') return null
  await releaseLease(system, job, outcome.delay, outcome.end === 'retry' && outcome.counts)
  if (outcome.end === 'again') {
    await sendJob(system, job, outcome.delay)
    return null
  }
  // This retry is counted by the queue: after its maximum, the message goes to the dead-letter queue.
  return Math.max(outcome.delay, outcome.counts ? 0 : backoff(message.attempts))
}
